import { isGatewayError } from '../errors.ts'
import { describeError, oneLine } from './one-line.ts'
import type { CliOptions } from './options.ts'
import { isProblem, type Problem, problem } from './problem.ts'

/** Whatever kept the program from starting, as a problem that says what to do. */
export function startFailure(
  error: unknown,
  options: Pick<CliOptions, 'port' | 'host' | 'data'>,
  hasSecret: boolean,
): Problem {
  if (isProblem(error)) return error
  if (isGatewayError(error, 'SECRET_MISMATCH'))
    return problem(secretMismatch(options.data, hasSecret), { cause: error })
  const named = namedCause(error)
  if (named) return problem(oneLine(named.message), { cause: error })
  if (isGatewayError(error))
    return problem(`The data in ${options.data} cannot be used. ${oneLine(error.message)}`, { cause: error })
  return listenProblem(error, options) ?? problem(`Could not start. ${describeError(error)}`, { cause: error })
}

/** The storage's own words, which name the file and the way out; the gateway wraps them. */
function namedCause(error: unknown): Error | undefined {
  for (let at = error; at instanceof Error; at = at.cause) if (at.name === 'StorageError') return at
  return undefined
}

function secretMismatch(data: string, hasSecret: boolean): string {
  return hasSecret
    ? `SIGNALBOX_SECRET does not open the data in ${data}: start with the secret that it was made with, or unset it if there was none.`
    : `The data in ${data} was sealed with another secret: start with SIGNALBOX_SECRET set to the one that it was made with.`
}

function listenProblem(error: unknown, { port, host }: Pick<CliOptions, 'port' | 'host'>): Problem | undefined {
  if (!(error instanceof Error) || !('code' in error)) return undefined
  const other = port < 65_535 ? port + 1 : port - 1
  switch (error.code) {
    case 'EADDRINUSE':
      return problem(`Port ${port} on ${host} is taken: stop what uses it, or take another one with --port ${other}.`)
    case 'EACCES':
      return problem(`Port ${port} is not open to this user: take one from 1024 up, as in --port 4000.`)
    case 'EADDRNOTAVAIL':
    case 'ENOTFOUND':
    case 'EAI_AGAIN':
    case 'EINVAL':
      return problem(
        `"${host}" is no address of this machine: try --host 127.0.0.1, or --host 0.0.0.0 for all of them.`,
      )
    case 'EAFNOSUPPORT':
      return problem(`This machine does not speak the kind of address that "${host}" is: try --host 127.0.0.1.`)
    default:
      return undefined
  }
}
