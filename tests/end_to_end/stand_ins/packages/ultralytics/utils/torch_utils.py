def strip_optimizer(file):
    file.write_text("weights")
