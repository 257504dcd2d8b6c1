import { inspect } from 'node:util'

/** Formats a thrown value: an error with its message, stack, cause, and uvu's diff, or any other value as inspected. */
export function describeError(error: unknown): string {
  if (!(error instanceof Error)) return typeof error === 'string' ? error : `thrown: ${inspect(error)}`
  if ('details' in error && 'generated' in error) return describeAssertion(error)
  return ours(inspect(error, { depth: 3 }))
}

function describeAssertion(error: Error & { details: unknown }): string {
  const places = (error.stack ?? '').split('\n').filter((line) => /^\s+at /.test(line))
  const diff = typeof error.details === 'string' ? `\n${error.details.replace(/^/gm, '    ')}` : ''
  return ours([`${error.message}${diff}`, ...places].join('\n'))
}

/** Removes stack lines that don't help explain a failing test. */
function ours(text: string): string {
  const foreign = /^\s+at .*(?:node:internal|\/uvu\/|test\/runner\/(?:worker|registry)\.ts|test\/support\/suite\.ts)/
  return text
    .split('\n')
    .filter((line) => !foreign.test(line))
    .join('\n')
}
