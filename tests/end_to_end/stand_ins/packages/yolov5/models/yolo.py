from yolov5.models.common import Conv


class Parameter:
    requires_grad = True


class DetectionModel:
    def __init__(self, cfg):
        self.cfg, self.parameter, self.layer = cfg, Parameter(), Conv()

    def load_state_dict(self, state):
        self.state = state

    def parameters(self):
        return [self.parameter]

    def half(self):
        return self

    def __repr__(self):
        kinds = [f"{type(part).__module__}.{type(part).__name__}" for part in (self, self.layer)]
        return f"{kinds} {self.cfg} {self.state} {self.nc} {self.names} {self.parameter.requires_grad}"


Model = DetectionModel
