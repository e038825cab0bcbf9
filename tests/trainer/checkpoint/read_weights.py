"""Reads a weights file as torch.load(weights_only=True) does, and prints what is in it as JSON.

Only what torch's restricted unpickler knows is allowed: its opcodes, and the names that a dict of tensors needs.
"""
import collections, io, json, pickle, pickletools, struct, sys, zipfile

OPCODES = set("""PROTO STOP MARK GLOBAL REDUCE BUILD NEWOBJ SETITEM SETITEMS APPEND APPENDS EMPTY_TUPLE EMPTY_LIST EMPTY_DICT
EMPTY_SET TUPLE TUPLE1 TUPLE2 TUPLE3 NONE NEWFALSE NEWTRUE BININT BININT1 BININT2 LONG1 BINFLOAT BINUNICODE SHORT_BINSTRING
BINPERSID BINGET LONG_BINGET BINPUT LONG_BINPUT""".split())
TYPES = {"Float": "f", "Double": "d", "Half": "e", "BFloat16": "H", "Char": "b", "Byte": "B", "Short": "h", "Int": "i",
         "Long": "q", "Bool": "?"}


def rebuild_tensor(storage, offset, size, stride, requires_grad, hooks):
    kind, values = storage
    numel = 1
    for length in size:
        numel *= length
    contiguous = []
    for length in reversed(size):
        contiguous.insert(0, 1 if not contiguous else contiguous[0] * max(previous, 1))
        previous = length
    assert list(stride) == contiguous and offset == 0 and len(values) == numel, (size, stride, offset)
    assert requires_grad is False and hooks == collections.OrderedDict()
    return {"type": kind, "size": list(size), "values": values}


class Unpickler(pickle.Unpickler):
    def __init__(self, archive):
        self.archive = archive
        super().__init__(io.BytesIO(archive.read("archive/data.pkl")))

    def find_class(self, module, name):
        if (module, name) == ("collections", "OrderedDict"):
            return collections.OrderedDict
        if (module, name) == ("torch._utils", "_rebuild_tensor_v2"):
            return rebuild_tensor
        assert module == "torch" and name.endswith("Storage"), (module, name)
        return name[:-len("Storage")]

    def persistent_load(self, pid):
        kind, storage, key, location, numel = pid
        assert kind == "storage" and location == "cpu"
        bytes_ = self.archive.read("archive/data/" + key)
        return storage, list(struct.unpack("<%d%s" % (numel, TYPES[storage]), bytes_))


def begin_of(data, info):
    name, extra = struct.unpack("<HH", data[info.header_offset + 26:info.header_offset + 30])
    return info.header_offset + 30 + name + extra


archive = zipfile.ZipFile(sys.argv[1])
assert archive.testzip() is None
records = archive.infolist()
assert all(record.compress_type == zipfile.ZIP_STORED for record in records)
data = open(sys.argv[1], "rb").read()
assert all(begin_of(data, record) % 64 == 0 for record in records)
assert archive.read("archive/version").strip().isdigit()
opcodes = {opcode.name for opcode, _, _ in pickletools.genops(archive.read("archive/data.pkl"))}
assert opcodes <= OPCODES, opcodes - OPCODES
print(json.dumps(Unpickler(archive).load()))
