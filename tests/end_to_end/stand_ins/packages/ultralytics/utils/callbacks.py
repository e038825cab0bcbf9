def add_integration_callbacks(trainer):
    raise AssertionError("MLflow is told of a trial")
