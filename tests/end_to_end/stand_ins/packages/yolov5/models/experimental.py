class Ensemble:
    pass
