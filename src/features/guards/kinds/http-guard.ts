import { MIN_QUOTABLE_LENGTH } from '../../../lib/credential-shapes.ts'
import { isObject, type JsonObject, tryParseJson } from '../../../lib/json.ts'
import { isPrivateHost } from '../../../lib/urls.ts'
import type { Guard, GuardChange, GuardPart, GuardVerdict } from '../guard.ts'
import { checkHeaders } from '../guard-shapes.ts'

/** The service that an `http` guard calls. */
export interface HttpRules {
  /** The service's URL. */
  readonly url: string
  /** The headers to send, such as `authorization`: at most 20, with 12,000 characters in total. Errors and usage records never contain them. */
  readonly headers?: Readonly<Record<string, string>>
  /** Set this if the service may change text. */
  readonly changes?: true
  /** Set this if the service may be on this machine or in a private network. */
  readonly allowPrivate?: boolean
}

/** Creates a guard that calls a service. Throws a TypeError for an invalid URL or invalid headers. */
export function createHttpGuard({
  url,
  headers = {},
  allowPrivate = false,
  ...options
}: Pick<Guard, 'name'> & Partial<Guard> & HttpRules): Guard {
  const problem = findUrlProblem(url, allowPrivate)
  if (problem) throw new TypeError(`http().url ${problem}.`)
  checkHeaders('http().headers', headers)
  const secrets = Object.values(headers)
    .flatMap((value) => value.split(' '))
    .filter(({ length }) => length >= MIN_QUOTABLE_LENGTH)
  return {
    ...options,
    async check({ parts, stage, final }, { fetch, signal, request }) {
      const response = await fetch(url, {
        method: 'POST',
        headers: { ...headers, 'content-type': 'application/json', accept: 'application/json' },
        body: JSON.stringify({
          ...{ stage, final },
          parts: parts.map(({ id, role, kind, text, isPiece, before, isOlder }) => ({
            ...{ id, role, kind, text, isPiece, before, isOlder },
          })),
          request: describeRequest(request),
          input_type: stage === 'request' ? 'request' : 'response',
          texts: parts.map(({ text }) => text),
          litellm_call_id: request.id,
        }),
        redirect: 'manual',
        signal,
      })
      if (response.status !== 200) {
        await response.body?.cancel()
        throw new Error(`The service returned status ${response.status}.`)
      }
      const verdict = tryParseJson(await response.text())
      if (!isObject(verdict)) throw new TypeError('The service did not return a JSON object.')
      return 'action' in verdict ? readAction(verdict, parts) : readVerdict(verdict, secrets)
    },
  }
}

function findUrlProblem(url: string, allowPrivate: boolean): string | undefined {
  if (!URL.canParse(url)) return 'must be a URL'
  const { protocol, username, password, hostname } = new URL(url)
  if (protocol !== 'https:' && protocol !== 'http:') return 'must begin with "https://" or "http://"'
  if (username !== '' || password !== '') return 'must not contain credentials; use "headers"'
  if (!allowPrivate && isPrivateHost(hostname)) return 'is a private address; set "allowPrivate: true" to call it'
  return undefined
}

/** Describes the request by names and IDs, without any credentials. */
const describeRequest = ({
  id,
  path,
  model,
  format,
  kind,
  stream,
  key,
  account,
}: Parameters<Guard['check']>[1]['request']) => ({
  ...{ id, path, model, format, kind, stream },
  ...(key && { key: { id: key.id, name: key.name } }),
  ...(account && { account: { id: account.id } }),
})

/** Reads a verdict in Signalbox's own format. `toDecision` validates its other fields. Drops a category that quotes one of the service's secrets. */
function readVerdict(verdict: JsonObject, secrets: readonly string[]): GuardVerdict {
  if (typeof verdict.verdict !== 'string') throw new TypeError('The service did not return a verdict.')
  const { category, ...verdictWithoutCategory } = verdict
  const quotesSecret = secrets.some((secret) => String(category).includes(secret))
  return (quotesSecret ? verdictWithoutCategory : verdict) as unknown as GuardVerdict // validated later, like the verdicts of all guards
}

/** Reads a response in the format of LiteLLM's generic guardrail API. */
function readAction({ action, texts }: JsonObject, parts: readonly GuardPart[]): GuardVerdict {
  if (action === 'NONE') return { verdict: 'pass' }
  if (action === 'BLOCKED') return { verdict: 'refuse' } // omits "blocked_reason", which may quote the content
  if (action !== 'GUARDRAIL_INTERVENED') throw new TypeError('The service returned an unknown action.')
  if (!Array.isArray(texts) || texts.length !== parts.length)
    throw new TypeError('The service returned a different number of texts.')
  return { verdict: 'change', changes: parts.map(({ id }, index): GuardChange => ({ id, text: texts[index] })) }
}
