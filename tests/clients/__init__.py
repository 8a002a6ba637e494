"""Public packages that know nothing of pullback, installed as their users do."""
