"""What the product promises when everything around it fails, and when it is killed: `make test-faults`.

Traffic of every kind goes to the whole program between the loopback doubles; the model, Discord and the
process itself fail at chosen and at random moments; then a judge looks at what people see in the loopback
Discord and compares that with what the database keeps. The judge knows no state of the program's own: each
answer of the model is made of numbered sentences, so that what is missing, doubled or mixed shows by itself.

These tests take minutes, so `make test` leaves them out. A failure names its seed: `ARGS='--seed 7'`.
"""
