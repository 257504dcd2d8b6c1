import { gatewayError } from '../../../../errors.ts'
import { isObject, type JsonObject } from '../../../../lib/json.ts'
import {
  type CanonicalResponse,
  type Finish,
  resolveFinish,
  type TokenUsage,
} from '../../canonical/canonical-response.ts'
import type { ReaderEvent } from '../../canonical/canonical-stream.ts'
import { omitUndefined, readString, readTokenCount } from '../../canonical/canonical-values.ts'
import { updateUsage } from '../../canonical/reported-usage.ts'
import { createPartCollector } from '../../canonical/response-events.ts'
import type { ReaderContext } from '../../translator.ts'
import { parseServedTier } from '../gemini-fields.ts'
import { createResponseReader } from './gemini-provider-stream.ts'

/** Parses a provider's complete response as a stream with one chunk, so that both give the same result. */
export function parseResponse(body: JsonObject, context: ReaderContext): CanonicalResponse {
  const parts = createPartCollector()
  const finishes: (Finish | undefined)[] = []
  let usage: TokenUsage | undefined

  function handleEvent(event: ReaderEvent) {
    if (event.type === 'finish') finishes[event.candidate] ??= event.finish
    else if (event.type === 'usage') usage = updateUsage(usage, event.usage)
    else if (event.type === 'error') {
      const { message, status, code } = event.error
      throw gatewayError('UPSTREAM_FAILED', { message, status, ...(code !== undefined && { data: { code } }) })
    } else if ('key' in event) parts.push(event)
  }

  const reader = createResponseReader(context, handleEvent)
  reader.observe(body)
  reader.end()
  const contents = parts.getContents()
  const hasCandidates = Array.isArray(body.candidates) && body.candidates.length > 0
  const length = Math.max(contents.length, finishes.length, hasCandidates ? 1 : 0)
  if (length === 0)
    throw gatewayError('UPSTREAM_INVALID', { message: 'The provider returned a response without candidates.' })
  return omitUndefined<CanonicalResponse>({
    id: readString(body.responseId),
    model: readString(body.modelVersion),
    choices: Array.from({ length }, (_, index) => {
      const content = contents[index] ?? []
      const hasCalls = content.some(({ type }) => type === 'tool-call')
      return { content, finish: resolveFinish(finishes[index], hasCalls) }
    }),
    usage,
    serviceTier: parseServedTier(body.usageMetadata),
  })
}

/** Parses the count in a `countTokens` response. Returns `undefined` if there is none. */
export function parseCount(response: unknown): number | undefined {
  return isObject(response) && typeof response.totalTokens === 'number'
    ? readTokenCount(response.totalTokens)
    : undefined
}
