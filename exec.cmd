@rem "exec" begins scripts of package.json: to sh it says to hand npm's signals on to the program. cmd.exe finds this file instead.
@%*
