import { didYouMean } from '../lib/did-you-mean.ts'
import { nearest } from '../lib/nearest.ts'

/** A hint for a path that is not served: what was probably meant, as a sentence. `served`: the paths without parameters. */
export function hintFor(path: string, served: Iterable<string>): string | undefined {
  const wanted = path.replace(/\/+/g, '/').replace(/\/$/, '')
  if (wanted === '/v1')
    return 'It is the base URL of OpenAI clients, which add the rest. GET /v1/models lists the models.'
  const [, doubled] = /^(\/v1(?:beta)?)\/v1(?:beta)?\//.exec(wanted) ?? []
  if (doubled) return `Leave ${doubled} out of the base URL of this client.`
  const paths = [...served]
  const [meant] = paths.filter((one) => wanted.endsWith(one.replace('/v1/', '/'))).sort(byLength)
  const others = paths.filter((one) => !wanted.startsWith(`${one}/`)) // a path below a served one is not a misspelling of it
  return didYouMean(meant ? [meant] : nearest(wanted, others, 1))
}

/** The longest first. */
const byLength = (one: string, other: string) => other.length - one.length
