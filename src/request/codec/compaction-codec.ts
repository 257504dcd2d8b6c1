import {
  buildContinuationRequest,
  buildSummaryRequest,
  prependCompaction,
  prependStreamCompaction,
  shouldCompact,
  toCompaction,
  toCompactionStream,
} from '../../protocols/formats/canonical/canonical-compaction.ts'
import type { CanonicalRequest } from '../../protocols/formats/canonical/canonical-request.ts'
import type { CanonicalResponse } from '../../protocols/formats/canonical/canonical-response.ts'
import type { StreamEvent } from '../../protocols/formats/canonical/canonical-stream.ts'
import { estimateTokens } from '../../protocols/formats/estimate-tokens.ts'
import { getSharedFormat } from '../../protocols/formats/formats.ts'
import { operations } from '../../protocols/formats/model-operations.ts'
import { getContextWindow } from '../../protocols/providers/catalog-model.ts'
import { getTraits } from '../../protocols/providers/provider-traits.ts'
import type { RouteTarget } from '../routing/group.ts'
import type { CodecRequest } from './codec.ts'
import {
  prepareForTarget,
  setUpTranslation,
  type TranslatedRequest,
  type TranslationMemory,
} from './translate-request.ts'

/** A request prepared for a target, and the conversion of its response for the client. */
export interface TranslatedExchange extends TranslatedRequest, ResponseConversion {}

interface ResponseConversion {
  /** Whether the request is only for a summary, which must arrive before the client's own request can be sent. */
  isPreliminary: boolean
  convertResponse(response: CanonicalResponse): CanonicalResponse
  convertStream(emit: (event: StreamEvent) => void): (event: StreamEvent) => void
}

/**
 * Translates a request for a response or a compaction. If the conversation must be compacted first, this returns the request for a summary; call
 * it again once `memory` has the summary. Rejects with `INVALID_REQUEST` if the target's format doesn't support the request.
 */
export async function translateExchange(
  request: CodecRequest,
  target: RouteTarget,
  memory: TranslationMemory,
): Promise<TranslatedExchange> {
  const { call, context } = request
  const setup = await setUpTranslation(request, target)
  const isCompaction = call.endpoint.operation === operations.compact
  const parsed = setup.client.parseRequest(setup.body, { ...setup.parseContext, isCompaction })
  const { canonicalRequest, ...conversion } = planCompaction(parsed, {
    window: getContextWindow(context.catalog, target),
    summary: memory.summaries.get(call),
  })
  return { ...(await prepareForTarget(canonicalRequest, setup, { request, target, memory })), ...conversion }
}

/** Determines which request to send to the target. `summary` is the conversation's summary, if there already is one. */
function planCompaction(
  parsed: CanonicalRequest,
  { window, summary }: { window: number | undefined; summary: string | undefined },
): ResponseConversion & { canonicalRequest: CanonicalRequest } {
  const { compact, turns, tools } = parsed
  if (compact === 'now')
    return {
      canonicalRequest: buildSummaryRequest(parsed),
      isPreliminary: false,
      convertResponse: toCompaction,
      convertStream: toCompactionStream,
    }
  if (compact === undefined || !shouldCompact(compact, estimateTokens({ turns, tools }), window))
    return { canonicalRequest: parsed, isPreliminary: false, ...UNCHANGED_CONVERSION }
  if (summary === undefined)
    return {
      canonicalRequest: { ...buildSummaryRequest(parsed), stream: false },
      isPreliminary: true,
      ...UNCHANGED_CONVERSION,
    }
  return {
    canonicalRequest: buildContinuationRequest(parsed, summary),
    isPreliminary: false,
    convertResponse: (response) => prependCompaction(response, summary),
    convertStream: (emit) => prependStreamCompaction(summary, emit),
  }
}

const UNCHANGED_CONVERSION: Pick<ResponseConversion, 'convertResponse' | 'convertStream'> = {
  convertResponse: (response) => response,
  convertStream: (emit) => emit,
}

/** Returns whether the gateway must compact the conversation for a target with the client's own format, because the target can't do it itself. */
export async function needsCompaction({ call, format, context }: CodecRequest, target: RouteTarget): Promise<boolean> {
  const compact = call.endpoint.getCompactionMode?.(call.body)
  if (compact === undefined) return false
  const shared = getSharedFormat(format.name)
  if (!shared) return false // only formats that also have providers support compaction
  const { traits } = await shared.loadTranslator()
  if (getTraits(traits, target, context.catalog).supportsCompaction) return false
  return (
    compact === 'now' || shouldCompact(compact, estimateTokens(call.body), getContextWindow(context.catalog, target))
  )
}
