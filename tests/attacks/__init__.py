"""What somebody would try who wants to stop the program, or to have it do what its user did not ask for,
scripted so that it is tried again and again. `make test-faults` does.

They look for what nobody thought of, with strings, presses and requests by the thousands, so they take
minutes, and `make test` leaves them out; what each of them has found has its own test in the ordinary suite.
"""
