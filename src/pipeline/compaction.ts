import type { Answer } from '../formats/canonical/answer.ts'
import {
  afterCompaction,
  afterCompactionStream,
  asCompaction,
  asCompactionStream,
  continuedRequest,
  isOver,
  summaryRequest,
} from '../formats/canonical/compaction.ts'
import type { CanonicalRequest } from '../formats/canonical/request.ts'
import type { StreamEvent } from '../formats/canonical/stream.ts'
import type { TokenUsage } from '../formats/canonical/usage.ts'
import { estimateTokens } from '../formats/estimate-tokens.ts'
import type { ParseContext, Translator } from '../formats/translator.ts'
import type { JsonObject } from '../lib/json.ts'
import { contextWindowOf } from '../providers/catalog-model.ts'
import { traitsFor } from '../providers/traits.ts'
import type { RouteTarget } from '../routing/group.ts'
import type { ModelCall } from './call.ts'
import type { SpokenRequest } from './model-request.ts'
import { type TranslatedRequest, translateRequest } from './translate-request.ts'

/** A request in the canonical form, fit for a target, and what is made of its answer for the client. */
export interface CarriedRequest extends TranslatedRequest {
  /** Is it a request for a summary, which must be answered before the client's own request can be sent? */
  isBefore: boolean
  /** The tokens of the summary, if one was made before. */
  spent: TokenUsage | undefined
  shape(answer: Answer): Answer
  shapeStream(emit: (event: StreamEvent) => void): (event: StreamEvent) => void
}

/** The summary of a request's conversation, which any target can go on with. */
export interface Summary {
  text: string
  usage: TokenUsage | undefined
}

/** The summaries of requests under way, so that a conversation is summarised once, however many targets are tried. */
const summaries = new WeakMap<ModelCall, Summary>()

export const keepSummary = (call: ModelCall, summary: Summary): void => void summaries.set(call, summary)

/**
 * Translates a request for an answer or a compaction. Rejects with `INVALID_REQUEST` when the target's format cannot carry it. A conversation
 * that is to be compacted first is summarised in a request of its own, after which this is called again.
 */
export async function carryRequest(request: SpokenRequest, target: RouteTarget): Promise<CarriedRequest> {
  const { call, context } = request
  const isCompaction = call.endpoint.operation === 'compact'
  const window = contextWindowOf(context.catalog, target)
  const said = summaries.get(call)
  const found: { way: keyof typeof ways } = { way: 'plain' }

  function parse(client: Translator, body: JsonObject, given: ParseContext): CanonicalRequest {
    const asked = client.parseRequest(body, { ...given, isCompaction })
    if (asked.compact === 'now') {
      found.way = 'now'
      return summaryRequest(asked)
    }
    const { turns, tools } = asked
    if (asked.compact === undefined || !isOver(asked.compact, estimateTokens({ turns, tools }), window)) return asked
    if (said) {
      found.way = 'after'
      return continuedRequest(asked, said.text)
    }
    found.way = 'before'
    return { ...summaryRequest(asked), stream: false }
  }

  const ways = {
    plain: { shape: unchanged, shapeStream: unchanged },
    before: { shape: unchanged, shapeStream: unchanged },
    now: { shape: asCompaction, shapeStream: asCompactionStream },
    after: {
      shape: (answer: Answer) => afterCompaction(answer, said?.text ?? ''),
      shapeStream: (emit: (event: StreamEvent) => void) => afterCompactionStream(said?.text ?? '', emit),
    },
  }

  const carried = await translateRequest(request, target, parse)
  return {
    ...carried,
    ...ways[found.way],
    isBefore: found.way === 'before',
    spent: found.way === 'after' ? said?.usage : undefined,
  }
}

const unchanged = <T>(value: T): T => value

/** Must the gateway compact the conversation for a target of the client's own format? Not if the target can do it itself. */
export async function isOursToCompact({ call, format, context }: SpokenRequest, target: RouteTarget): Promise<boolean> {
  const wish = format.compactionIn?.(call.body)
  if (wish === undefined) return false
  const { traits } = await format.loadTranslator()
  if (traitsFor(traits, target, context.catalog).compacts) return false
  return wish === 'now' || isOver(wish, estimateTokens(call.body), contextWindowOf(context.catalog, target))
}
