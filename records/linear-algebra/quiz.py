"""Positive definite matrices: symmetry, determinant, definiteness and a Cholesky factor."""

import json

import numpy as np

n = 2
lower = np.tril(np.random.randint(1, 4, size=(n, n)))
A = lower @ lower.T
print(f"A = {A.tolist()}")


def read(text):
    try:
        return np.array(json.loads(text), dtype=float)
    except (ValueError, TypeError):
        raise Exception("write a matrix as [[1, 0], [0, 1]]")


if input("Is A symmetric? ").strip().lower() not in ("yes", "y"):
    raise Exception("A equals its transpose")

if abs(float(input("What is the determinant of A? ")) - np.linalg.det(A)) > 1e-6:
    raise Exception("that is not the determinant")  #score = 0.2

print("All leading minors of A are positive.")
if input("So A is positive ... (definite/semidefinite/indefinite) ").strip() != "definite":
    raise Exception("Sylvester's criterion says definite")  #score = 0.4

U = read(input("Give a lower triangular L with LLᵀ = A: "))  #matrix #rows=2
if U.shape != (n, n):
    raise Exception(f"L must be {n}x{n}")  #score = 0.5
if not np.allclose(U @ U.T, A):
    raise Exception("LLᵀ ≠ A")  #score = 0.6
if not np.allclose(U, np.tril(U)):
    raise Exception("L is not lower triangular")  #score = 0.8
print("That is the Cholesky factor, up to signs.")
