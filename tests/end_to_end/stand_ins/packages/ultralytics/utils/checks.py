import os


def check_file(file, hard=True):
    if os.path.exists(file):
        return file
    if not hard:
        return []
    raise FileNotFoundError(f"'{file}' does not exist")
