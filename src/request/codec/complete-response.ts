import { gatewayError } from '../../errors.ts'
import { decodeUtf8Lenient, encodeUtf8, readAll } from '../../lib/bytes.ts'
import { startDeadline } from '../../lib/deadline.ts'
import type { UpstreamCall } from '../../lib/exchange.ts'
import { isObject, type JsonObject, tryParseJson } from '../../lib/json.ts'
import { addCharges } from '../../protocols/formats/canonical/reported-cost.ts'
import type { ResponseReader } from '../../protocols/formats/format.ts'
import type { CompletionTools, JobPoll, JobPolling, PreparedPart } from '../../protocols/kinds/kind-adapters.ts'
import { ProviderCall } from '../upstream/provider-call.ts'
import { toFailure } from './call-failure.ts'
import type { CodecContext, CompletionOptions } from './codec.ts'
import { download } from './download.ts'
import { type BufferedResponse, createTooLargeError, type FailedResponse } from './response.ts'

interface PendingCompletion extends CompletionOptions {
  completeResponse: NonNullable<PreparedPart['completeResponse']>
  reader: ResponseReader
  context: CodecContext
}

/**
 * Completes a response: waits for the job that it starts, and downloads its files. Never rejects. The provider may charge for a failed job. If a
 * content filter rejects the job, that is treated as an error in the request.
 */
export async function completeBufferedResponse(
  response: BufferedResponse,
  options: PendingCompletion,
): Promise<BufferedResponse | FailedResponse> {
  const { call, completeResponse, reader } = options
  try {
    const json = await completeResponse(response.json, {
      requestUrl: call.url,
      awaitJob: (poll, job) => awaitJob(poll, job, options),
      download: createDownload(options),
    })
    if (json === response.json) return response
    return { ...response, json, usage: addCharges(reader.getUsage(json), json) ?? response.usage }
  } catch (error) {
    return { kind: 'failure', failure: toFailure(error), usage: response.usage }
  }
}

/** Maximum time to poll a job, and the first and maximum wait between polls, in ms. */
const JOB_TIMEOUT_MS = 300_000
const FIRST_WAIT_MS = 500
const MAX_WAIT_MS = 3_000

/** Maximum consecutive failed polls. */
const MAX_FAILURES = 5

async function awaitJob(jobPoll: JobPoll, job: JobPolling, options: PendingCompletion): Promise<JsonObject> {
  const { clock } = options.context
  const call = createPollCall(jobPoll, job, options.call)
  const deadline = clock.now() + JOB_TIMEOUT_MS
  let failedPolls = 0
  for (let waitMs = FIRST_WAIT_MS; ; waitMs = Math.min(waitMs * 1.5, MAX_WAIT_MS)) {
    await pause(waitMs, options)
    if (clock.now() > deadline)
      throw gatewayError('UPSTREAM_TIMEOUT', {
        message: `The provider's job took longer than ${JOB_TIMEOUT_MS / 1000} s.`,
      })
    const json = await poll(call, options)
    failedPolls = json ? 0 : failedPolls + 1
    if (failedPolls >= MAX_FAILURES)
      throw gatewayError('UPSTREAM_INVALID', { message: 'The provider did not report the status of its job.' })
    const jobState = json && job.readState(json)
    if (json && jobState === 'done') return json
    if (jobState === 'failed') throw gatewayError('UPSTREAM_INVALID', { message: "The provider's job failed." })
    if (jobState === 'refused')
      throw gatewayError('INVALID_REQUEST', { message: "The provider's content filter blocked the request." })
  }
}

/**
 * Creates the call that polls a job. A URL in a response must have the original call's origin, or be an HTTPS URL on the vendor's own domain, so that
 * a vendor can't direct the gateway to another host. The credential is sent only to the original origin, or within the vendor's domain.
 */
function createPollCall(
  { url: rawUrl, body }: JobPoll,
  { domain }: JobPolling,
  submittedCall: UpstreamCall,
): UpstreamCall {
  const url = URL.canParse(rawUrl) ? new URL(rawUrl) : undefined
  const submittedUrl = new URL(submittedCall.url)
  const isSameOrigin = url?.origin === submittedUrl.origin && url.username === '' && url.password === ''
  const isVendorUrl = url !== undefined && domain !== undefined && isOnDomain(domain, url)
  if (!url || (!isSameOrigin && !isVendorUrl))
    throw gatewayError('UPSTREAM_INVALID', { message: 'The provider returned a job URL on a different host.' })
  const isTrusted = isSameOrigin || (domain !== undefined && isOnDomain(domain, submittedUrl))
  const headers: Record<string, string> = { accept: 'application/json' }
  for (const name of CREDENTIAL_HEADERS) {
    const value = submittedCall.headers[name]
    if (isTrusted && value !== undefined) headers[name] = value
  }
  url.hash = ''
  if (!body) return { method: 'GET', url: url.href, headers }
  headers['content-type'] = 'application/json'
  return { method: 'POST', url: url.href, headers, body: encodeUtf8(JSON.stringify(body)) }
}

const CREDENTIAL_HEADERS = ['authorization', 'x-key', 'x-api-key', 'api-key']

/** Returns whether the URL is on the domain, with HTTPS and the default port. */
const isOnDomain = (domain: string, { protocol, port, hostname, username, password }: URL): boolean =>
  protocol === 'https:' &&
  port === '' &&
  username === '' &&
  password === '' &&
  (hostname === domain || hostname.endsWith(`.${domain}`))

function pause(ms: number, { context, scope }: PendingCompletion): Promise<void> {
  let cancelDeadline = () => {}
  const timeout = new Promise<void>((resolve) => {
    cancelDeadline = startDeadline(context.clock, ms, resolve)
  })
  return scope.race(timeout).finally(() => cancelDeadline())
}

/** Polls a job. Returns `undefined` if the provider is unreachable now. Rejects if the client has disconnected or the provider rejects the poll. */
async function poll(
  pollCall: UpstreamCall,
  { context, scope, limits }: PendingCompletion,
): Promise<JsonObject | undefined> {
  const call = new ProviderCall({ clock: context.clock, limits })
  const cancel = (reason: unknown) => call.cancel(reason)
  scope.add(cancel)
  try {
    const { status, body } = await call.open(pollCall, context.fetch)
    if (status === 200) {
      const json = tryParseJson(decodeUtf8Lenient(await readAll(body, limits.maxResponseBytes, createTooLargeError)))
      return isObject(json) ? json : undefined
    }
    call.cancel()
    if (status === 429 || status >= 500) return undefined
  } catch (error) {
    if (scope.hasEnded) throw scope.reason
    call.cancel(error)
    return undefined
  } finally {
    scope.remove(cancel)
  }
  throw gatewayError('UPSTREAM_INVALID', { message: 'The provider no longer has the job.' })
}

/** Creates a function that downloads images. All of a response's images share one size limit, the same as for a request. */
function createDownload({ context, scope, limits }: PendingCompletion): CompletionTools['download'] {
  const { fetch, clock } = context
  const allowance = { remainingBytes: limits.maxImageBytes }
  return async (rawUrl) => {
    if (!URL.canParse(rawUrl)) return undefined
    const downloaded = await download(new URL(rawUrl), {
      fetch,
      clock,
      scope,
      allowance,
      maxBytes: limits.maxImageBytes,
    })
    return downloaded.problem === undefined ? downloaded : undefined
  }
}
