"""Environments: the vector env, its codec, snapshots, registry and conformance kit."""
