import type { Answer } from '../formats/canonical/answer.ts'
import {
  afterCompaction,
  afterCompactionStream,
  asCompaction,
  asCompactionStream,
  continuedRequest,
  mustCompact,
  summaryRequest,
} from '../formats/canonical/compaction.ts'
import type { CanonicalRequest } from '../formats/canonical/request.ts'
import type { StreamEvent } from '../formats/canonical/stream.ts'
import { estimateTokens } from '../formats/estimate-tokens.ts'
import { sharedFormatOf } from '../formats/formats.ts'
import { operations } from '../formats/operations.ts'
import type { ClientTranslator, ParseContext } from '../formats/translator.ts'
import type { JsonObject } from '../lib/json.ts'
import { contextWindowOf } from '../providers/catalog-model.ts'
import { traitsFor } from '../providers/traits.ts'
import type { RouteTarget } from '../routing/group.ts'
import type { AskedRequest } from './codec.ts'
import { type TranslatedRequest, type TranslationMemory, translateRequest } from './translate-request.ts'

/** A request in the canonical form, fit for a target, and what is made of its answer for the client. */
export interface CarriedRequest extends TranslatedRequest {
  /** Is it a request for a summary, which must be answered before the client's own request can be sent? */
  isBefore: boolean
  shape(answer: Answer): Answer
  shapeStream(emit: (event: StreamEvent) => void): (event: StreamEvent) => void
}

/**
 * Translates a request for an answer or a compaction. Rejects with `INVALID_REQUEST` when the target's format cannot carry it. A conversation
 * that is to be compacted first is summarised in a request of its own, after which this is called again.
 */
export async function carryRequest(
  request: AskedRequest,
  target: RouteTarget,
  memory: TranslationMemory,
): Promise<CarriedRequest> {
  const { call, context } = request
  const isCompaction = call.endpoint.operation === operations.compact
  const window = contextWindowOf(context.catalog, target)
  const summary = memory.summaries.get(call)
  const found: { way: keyof typeof ways } = { way: 'plain' }

  function parse(client: ClientTranslator, body: JsonObject, given: ParseContext): CanonicalRequest {
    const asked = client.parseRequest(body, { ...given, isCompaction })
    if (asked.compact === 'now') {
      found.way = 'now'
      return summaryRequest(asked)
    }
    const { turns, tools } = asked
    if (asked.compact === undefined || !mustCompact(asked.compact, estimateTokens({ turns, tools }), window))
      return asked
    if (summary !== undefined) {
      found.way = 'after'
      return continuedRequest(asked, summary)
    }
    found.way = 'before'
    return { ...summaryRequest(asked), stream: false }
  }

  const ways = {
    plain: { shape: unchanged, shapeStream: unchanged },
    before: { shape: unchanged, shapeStream: unchanged },
    now: { shape: asCompaction, shapeStream: asCompactionStream },
    after: {
      shape: (answer: Answer) => afterCompaction(answer, summary ?? ''),
      shapeStream: (emit: (event: StreamEvent) => void) => afterCompactionStream(summary ?? '', emit),
    },
  }

  const carried = await translateRequest(request, target, { memory, parse })
  return {
    ...carried,
    ...ways[found.way],
    isBefore: found.way === 'before',
  }
}

const unchanged = <T>(value: T): T => value

/** Must the gateway compact the conversation for a target of the client's own format? Not if the target can do it itself. */
export async function isCompactionOurs({ call, format, context }: AskedRequest, target: RouteTarget): Promise<boolean> {
  const wish = call.endpoint.compactionIn?.(call.body)
  if (wish === undefined) return false
  const shared = sharedFormatOf(format.name)
  if (!shared) return false // compactions are asked for in formats of providers only
  const { traits } = await shared.loadTranslator()
  if (traitsFor(traits, target, context.catalog).compacts) return false
  return wish === 'now' || mustCompact(wish, estimateTokens(call.body), contextWindowOf(context.catalog, target))
}
