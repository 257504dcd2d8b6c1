import { summaryIn } from '../formats/canonical/compaction.ts'
import { notTooDeep } from '../formats/canonical/deep-answer.ts'
import { exactObject } from '../formats/canonical/exact-json.ts'
import { createLosses } from '../formats/canonical/losses.ts'
import { restoreAnswer, restoreStream } from '../formats/canonical/restore.ts'
import { gatherStream } from '../formats/gather-stream.ts'
import { decodeUtf8Lenient, encodeUtf8 } from '../lib/bytes.ts'
import type { RouteTarget } from '../routing/group.ts'
import type { OptionName } from '../traits.ts'
import { translatedHeaders } from '../upstream/headers.ts'
import type { WholeAnswer } from './attempt.ts'
import { carryRequest, keepSummary } from './compaction.ts'
import { writeContextOf } from './format-contexts.ts'
import type { SpokenRequest } from './model-request.ts'
import { newId } from './new-id.ts'
import { isBadRequest, type RefusableOption } from './refused-options.ts'
import { relayTranslated } from './relay-translated.ts'
import { type Transform, wantsArray } from './transform.ts'
import { type TranslatedRequest, untranslatable } from './translate-request.ts'
import { translatedFailure } from './translated-failure.ts'

/**
 * The transform through the canonical form; `leftOut`: the options that the target has just refused. Rejects with `INVALID_REQUEST` when the
 * target's format cannot carry the request.
 */
export async function translated(
  request: SpokenRequest,
  routeTarget: RouteTarget,
  leftOut: readonly RefusableOption[] = [],
): Promise<Transform> {
  const { call, exchange, context, owner } = request
  if (call.endpoint.operation === 'complete') throw untranslatable(request, routeTarget)
  const carried = await carryRequest(request, routeTarget)
  const { client, upstream, format, asked, target, restoration, memory, isBefore, spent, shape, shapeStream } = carried
  const written = upstream.writeRequest(carried.request, target)
  const { origin, traits, warnings } = target
  const losses = createLosses()
  const read = { origin, traits, newId, losses }
  const write = writeContextOf(request, { request: asked, model: target.model, losses })
  const isArray = wantsArray(request)
  const isCompaction = call.endpoint.operation === 'compact'
  const said = { owner, turns: asked.turns, origin }
  const restoring = restoreStream(restoration)

  const answerOf = ({ json, bytes, events }: WholeAnswer) =>
    events
      ? gatherStream(events, { from: upstream, read, candidates: asked.options.candidates })
      : upstream.parseAnswer(exactObject(notTooDeep(decodeUtf8Lenient(bytes)), json), read)

  async function next(whole: WholeAnswer): Promise<Transform> {
    keepSummary(call, { text: summaryIn(answerOf(whole)), usage: whole.usage })
    return translated(request, routeTarget)
  }

  return {
    format,
    ask: {
      path: written.path,
      query: '',
      headers: { ...translatedHeaders(exchange, format.defaultHeaders), ...written.headers },
      body: JSON.stringify(written.body),
    },
    isVerbatim: false,
    operation: 'generate',
    spent,
    warnings: () => [...warnings.list(), ...losses.list()], // those of a stream's answer come behind its headers
    ...(isBefore && { next }),
    whole(whole) {
      const told = restoreAnswer(answerOf(whole), restoration)
      memory.keep(said, told.choices[0]?.content ?? [])
      const answer = shape(told)
      const written =
        isCompaction && client.writeCompaction
          ? client.writeCompaction(answer, write, call.body)
          : client.writeAnswer(answer, write)
      return encodeUtf8(JSON.stringify(written))
    },
    async withoutRefused(attempt) {
      const refused = await context.refusedOptions()
      const found = refused.note(routeTarget, attempt, sentOptions(carried))
      if (found.length > 0) return translated(request, routeTarget, found).catch(() => undefined) // a strict request loses nothing
      if (isBadRequest(attempt)) refused.forget(routeTarget, leftOut)
      return undefined
    },
    failed: (attempt) => translatedFailure(attempt, { client, upstream, now: context.clock.now() }),
    streamType: isArray ? 'application/json' : 'text/event-stream',
    stream: (body, committed, terms) =>
      relayTranslated(body, committed, {
        translation: {
          from: upstream,
          framing: format.framing,
          to: client,
          read,
          write,
          restore: (emit) => restoring(memory.listen(said, shapeStream(emit))),
        },
        clock: context.clock,
        ...terms,
      }),
  }
}

/** The options of a request that may be left out, by their paths in the provider's request. */
function sentOptions({ request, upstream }: TranslatedRequest): Map<string, RefusableOption> {
  const names = (Object.keys(request.options) as OptionName[]).filter((name) => !NEEDED.has(name)) // the options have no other keys
  const sent = names.map((name): [string, RefusableOption] => [upstream.fieldNames?.[name] ?? name, name])
  return new Map(request.stream ? [...sent, ['stream_options', 'streamUsage']] : sent)
}

/** Without these the answer would be another one, or longer than the client has room for. */
const NEEDED: ReadonlySet<OptionName> = new Set(['candidates', 'maxOutputTokens', 'modalities', 'moderation', 'speech'])
