"""Learning from trajectories: returns, losses, algorithms, optimizers, meshes. Knows no env.

Needs the extra `train`.
"""
