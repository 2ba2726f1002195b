"""`python -m dalembert`: the command `dalembert`, where it is not on the path."""

from dalembert.cli.app import main

if __name__ == "__main__":
    main()
