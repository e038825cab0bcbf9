// Has what precompiled.hpp includes made for everybody else.
