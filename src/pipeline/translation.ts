import { gatewayError } from '../errors.ts'
import { prepareRequest } from '../formats/canonical/prepare/prepare.ts'
import type { CanonicalRequest } from '../formats/canonical/request.ts'
import { restoreAnswer, restoreStream } from '../formats/canonical/restore.ts'
import { createWarnings } from '../formats/canonical/warnings.ts'
import { upstreamFormatOf } from '../formats/formats.ts'
import type { Translator, UpstreamTranslator } from '../formats/translator.ts'
import { decodeUtf8Lenient, encodeUtf8 } from '../lib/bytes.ts'
import { tryParseJson } from '../lib/json.ts'
import { targetName } from '../providers/target.ts'
import { traitsFor } from '../providers/traits.ts'
import type { RouteTarget } from '../routing/group.ts'
import { translatedHeaders } from '../upstream/headers.ts'
import type { FailedAttempt } from './attempt.ts'
import type { SpokenRequest } from './model-request.ts'
import { type Passage, wantsArray } from './passage.ts'
import { relayTranslated } from './relay-translated.ts'

/** A passage through the canonical form. Throws `INVALID_REQUEST` when the request cannot be said in the target's format. */
export async function translated(request: SpokenRequest, target: RouteTarget): Promise<Passage> {
  const { call, exchange, context } = request
  const toTarget = await upstreamFormatOf(target.format)
  const [client, upstream] = await Promise.all([request.format.loadTranslator?.(), toTarget?.loadTranslator?.()])
  if (call.endpoint.operation !== 'generate' || !client || !upstream || !toTarget) throw untranslatable(request, target)

  const warnings = createWarnings({ isStrict: isStrict(request), names: client.fieldNames })
  const isArray = wantsArray(request)
  const route = { model: call.model, stream: call.stream, isArray }
  const version = exchange.header('anthropic-version')
  const asked: CanonicalRequest = client.parseRequest(call.body, { warnings, route, ...(version && { version }) })
  const traits = traitsFor(upstream.traits, target, context.catalog)
  const origin = { format: target.format, account: target.connection.id }
  const told = { model: target.model, traits, origin, warnings }
  const { request: prepared, restoration } = prepareRequest(asked, { ...told, carries: upstream.carries })
  const written = upstream.writeRequest(prepared, told)

  const read = { origin, traits, newId, warnings: createWarnings({ isStrict: false }) }
  const write = { request: asked, model: target.model, newId, now: Math.floor(context.clock.now() / 1_000) }

  return {
    format: toTarget,
    ask: {
      path: written.path,
      query: '',
      headers: { ...translatedHeaders(exchange, toTarget.defaultHeaders), ...written.headers },
      body: JSON.stringify(written.body),
    },
    isVerbatim: false,
    warnings: warnings.list,
    whole({ json }) {
      const answer = restoreAnswer(upstream.parseAnswer(json, read), restoration)
      return encodeUtf8(JSON.stringify(client.writeAnswer(answer, write)))
    },
    failed: (attempt) => translatedFailure(attempt, { client, upstream, now: context.clock.now() }),
    streamType: isArray ? 'application/json' : 'text/event-stream',
    stream: (body, committed, onEnd) =>
      relayTranslated(body, committed, {
        translation: {
          from: upstream,
          framing: toTarget.framing,
          to: client,
          read,
          write,
          restore: restoreStream(restoration),
        },
        clock: context.clock,
        onEnd,
      }),
  }
}

function untranslatable({ call }: SpokenRequest, target: RouteTarget) {
  const { format, path } = call.endpoint
  return gatewayError('FORMAT_MISMATCH', {
    message: `A request to ${path} in the format "${format}" cannot be translated for ${targetName(target)}, which speaks "${target.format}".`,
  })
}

/** The header decides for its request, in either direction only towards strictness. */
const isStrict = ({ exchange, context }: SpokenRequest) =>
  context.isStrict || /^(true|1)$/i.test(exchange.header('x-signalbox-strict')?.trim() ?? '')

/** The provider's own error in the client's words. What has no body of the provider's is told by the gateway itself. */
function translatedFailure(
  attempt: FailedAttempt,
  { client, upstream, now }: { client: Translator; upstream: UpstreamTranslator; now: number },
): FailedAttempt {
  const { failure, head } = attempt
  if (!head || !failure.body) return attempt
  const text = decodeUtf8Lenient(failure.body)
  const header = (name: string) => head.header(name)
  const error = upstream.parseError({ status: head.status, body: tryParseJson(text) ?? text, header, now })
  const { status, headers, body } = client.writeError(error)
  const { upstreamStatus = head.status } = failure
  return {
    ...attempt,
    failure: { ...failure, status, upstreamStatus, headers, body: encodeUtf8(JSON.stringify(body)) },
  }
}

const ALPHABET = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789'

/** 24 letters and digits. */
function newId(): string {
  const bytes = crypto.getRandomValues(new Uint8Array(24))
  return Array.from(bytes, (byte) => ALPHABET[byte % ALPHABET.length]).join('')
}
