import { gatewayError } from '../errors.ts'
import type { AnswerReader } from '../formats/format.ts'
import type { AfterAnswer, CarriedPart, JobAddress, JobForm } from '../kinds/forms.ts'
import { decodeUtf8Lenient, encodeUtf8, readAll } from '../lib/bytes.ts'
import { startDeadline } from '../lib/deadline.ts'
import type { UpstreamCall } from '../lib/exchange.ts'
import { isObject, type JsonObject, tryParseJson } from '../lib/json.ts'
import { ProviderCall } from '../upstream/provider-call.ts'
import type { CodecContext, CompletionTerms } from './codec.ts'
import { download } from './download.ts'
import { answerTooLarge, failureOfError } from './failure.ts'
import type { FailedResponse, WholeResponse } from './response.ts'

interface Terms extends CompletionTerms {
  completed: NonNullable<CarriedPart['completed']>
  answers: AnswerReader
  context: CodecContext
}

/**
 * Makes the answer of a response: waits for the job that it begins, and fetches what is needed as bytes. Never rejects; a job that fails may have
 * been paid for, and one that a content filter has refused is an error of the request.
 */
export async function completeAnswer(response: WholeResponse, terms: Terms): Promise<WholeResponse | FailedResponse> {
  const { call, completed, answers } = terms
  try {
    const json = await completed(response.json, {
      submitted: call.url,
      jobDone: (at, job) => jobDone(at, job, terms),
      download: downloader(terms),
    })
    return json === response.json ? response : { ...response, json, usage: answers.usageOf(json) ?? response.usage }
  } catch (thrown) {
    return { kind: 'failure', failure: failureOfError(thrown), usage: response.usage }
  }
}

/** In ms: for how long a job is asked for, and the first and the longest wait between two times. */
const JOB_MS = 300_000
const FIRST_WAIT_MS = 500
const LONGEST_WAIT_MS = 3_000

/** How often in a row it may be impossible to ask. */
const MOST_FAILURES = 5

async function jobDone(at: JobAddress, job: JobForm, terms: Terms): Promise<JsonObject> {
  const { clock } = terms.context
  const call = callFor(at, job, terms.call)
  const until = clock.now() + JOB_MS
  let failures = 0
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 1.5, LONGEST_WAIT_MS)) {
    await pause(waitMs, terms)
    if (clock.now() > until)
      throw gatewayError('UPSTREAM_TIMEOUT', {
        message: `The job of the provider took longer than ${JOB_MS / 1000} s.`,
      })
    const json = await answerTo(call, terms)
    failures = json ? 0 : failures + 1
    if (failures >= MOST_FAILURES)
      throw gatewayError('UPSTREAM_INVALID', { message: 'The provider does not report the state of its job.' })
    const state = json && job.state(json)
    if (json && state === 'done') return json
    if (state === 'failed') throw gatewayError('UPSTREAM_INVALID', { message: 'The job of the provider has failed.' })
    if (state === 'refused')
      throw gatewayError('INVALID_REQUEST', { message: 'The provider refused the request by its content filter.' })
  }
}

/**
 * The call that asks for a job. An answer may name no address but one of the origin that was asked, or of the vendor's own domain, by https: a
 * vendor must not lead the gateway to another host. The credential goes only where the request went, or within the vendor's domain.
 */
function callFor({ url: address, body }: JobAddress, { domain }: JobForm, submitted: UpstreamCall): UpstreamCall {
  const url = URL.canParse(address) ? new URL(address) : undefined
  const own = new URL(submitted.url)
  const isOwn = url?.origin === own.origin && url.username === '' && url.password === ''
  const isVendors = url !== undefined && domain !== undefined && isOf(domain, url)
  if (!url || (!isOwn && !isVendors))
    throw gatewayError('UPSTREAM_INVALID', { message: 'The provider names an address of another host for its job.' })
  const isTrusted = isOwn || (domain !== undefined && isOf(domain, own))
  const headers: Record<string, string> = { accept: 'application/json' }
  for (const name of CREDENTIALS) {
    const value = submitted.headers[name]
    if (isTrusted && value !== undefined) headers[name] = value
  }
  url.hash = ''
  if (!body) return { method: 'GET', url: url.href, headers }
  headers['content-type'] = 'application/json'
  return { method: 'POST', url: url.href, headers, body: encodeUtf8(JSON.stringify(body)) }
}

const CREDENTIALS = ['authorization', 'x-key', 'x-api-key', 'api-key']

/** Is the address within the domain, by https, at the usual port? */
const isOf = (domain: string, { protocol, port, hostname, username, password }: URL): boolean =>
  protocol === 'https:' &&
  port === '' &&
  username === '' &&
  password === '' &&
  (hostname === domain || hostname.endsWith(`.${domain}`))

/** Ends with the scope. */
function pause(ms: number, { context, scope }: Terms): Promise<void> {
  let cancel = () => {}
  const passed = new Promise<void>((resolve) => {
    cancel = startDeadline(context.clock, ms, resolve)
  })
  return scope.race(passed).finally(() => cancel())
}

/**
 * The state of a job as the provider reports it; `undefined` where the provider cannot be reached now. Rejects when the client has left, and when
 * the provider refuses to answer.
 */
async function answerTo(asked: UpstreamCall, { context, scope, limits }: Terms): Promise<JsonObject | undefined> {
  const call = new ProviderCall({ clock: context.clock, limits })
  const cancel = (reason: unknown) => call.cancel(reason)
  scope.add(cancel)
  try {
    const { status, body } = await call.open(asked, context.fetch)
    if (status === 200) {
      const json = tryParseJson(decodeUtf8Lenient(await readAll(body, limits.maxAnswerBytes, answerTooLarge)))
      return isObject(json) ? json : undefined
    }
    call.cancel()
    if (status === 429 || status >= 500) return undefined
  } catch (thrown) {
    if (scope.hasEnded) throw scope.reason
    call.cancel(thrown)
    return undefined
  } finally {
    scope.remove(cancel)
  }
  throw gatewayError('UPSTREAM_INVALID', { message: 'The provider no longer knows its job.' })
}

/** All images of a response together may be as large as those of a request. */
function downloader({ context, scope, limits }: Terms): AfterAnswer['download'] {
  const { fetch, clock } = context
  const allowance = { left: limits.maxImageBytes }
  return async (address) => {
    if (!URL.canParse(address)) return undefined
    const found = await download(new URL(address), { fetch, clock, scope, allowance, maxBytes: limits.maxImageBytes })
    return found.problem === undefined ? found : undefined
  }
}
