import { decodeUtf8Lenient } from '../../lib/bytes.ts'
import { isObject, type JsonObject, tryParseJson } from '../../lib/json.ts'
import { parseExactly } from '../../protocols/formats/canonical/exact-json.ts'
import type { ClientFormat } from '../../types.ts'
import type { GuardPart } from './guard.ts'
import { createRefusal } from './guard-refusal.ts'
import { joinLists, type ReadPart, readParts } from './read-parts.ts'
import { refusalFormats } from './refusals/refusal-formats.ts'
import type { GuardDecision, GuardRun } from './run-guards.ts'

type Refused = Extract<GuardDecision, { kind: 'refused' }>

/** The body of a checked response. */
export interface CheckedBody {
  body: string | Uint8Array
  refused?: Refused
}

/**
 * Checks a whole response, and changes only what guards change. A refused chat response keeps its usage, and ends with the finish reason for filtered
 * content; refused responses of other kinds become errors.
 */
export async function checkAnswer(
  body: string | Uint8Array,
  { run, format, isChat, isJson }: { run: GuardRun; format: ClientFormat; isChat: boolean; isJson: boolean },
): Promise<CheckedBody> {
  const text = typeof body === 'string' ? body : decodeUtf8Lenient(body)
  const json = isJson ? tryParseJson(text) : undefined
  if (!isObject(json)) {
    const decision = await run.check({ parts: [createTextPart(text)], stage: 'answer', final: true })
    if (decision.kind === 'refused') throw createRefusal(decision.guard, decision.category)
    const changed = decision.kind === 'passed' ? decision.texts.get('0') : undefined
    return { body: changed ?? body }
  }
  const parts = readParts(text, json, 'answer')
  const decision = await checkParts(parts, run)
  if (decision.kind === 'passed')
    return { body: decision.texts.size > 0 ? writeParts(text, parts, decision.texts) : body }
  if (decision.kind !== 'refused' || !isChat)
    throw createRefusal(decision.guard, 'category' in decision ? decision.category : undefined)
  const { message } = createRefusal(decision.guard, decision.category)
  const { choices, texts } = await checkChoices(parts, run)
  const exact = parseExactly(writeParts(text, parts, texts)) as JsonObject // it has been parsed before
  const reason = { message, category: decision.category }
  return { body: JSON.stringify(refusalFormats[format].writeWhole(exact, reason, choices)), refused: decision }
}

const createTextPart = (text: string): GuardPart => ({ id: '0', role: 'assistant', kind: 'text', text, isOlder: false })

/** Checks the parts, and then the texts that follow each other in a message, joined. */
async function checkParts(parts: readonly ReadPart[], run: GuardRun): Promise<GuardDecision> {
  const decision = await run.check({ parts, stage: 'answer', final: true })
  if (decision.kind !== 'passed') return decision
  const texts = new Map(decision.texts)
  const lists = joinLists(parts.map((part) => ({ ...part, text: texts.get(part.id) ?? part.text })))
  if (lists.length === 0) return decision
  const joined = await run.check({ parts: lists.map(({ part }) => part), stage: 'answer', final: true })
  if (joined.kind !== 'passed') return joined
  for (const { part, of } of lists) {
    const text = joined.texts.get(part.id)
    if (text !== undefined) for (const [at, { id }] of of.entries()) texts.set(id, at === 0 ? text : '')
  }
  return { kind: 'passed', texts }
}

/** Checks each of several choices alone. `choices`: the refused ones, or `undefined` if the response must be refused as a whole. */
async function checkChoices(
  parts: readonly ReadPart[],
  run: GuardRun,
): Promise<{ choices?: ReadonlySet<number>; texts: ReadonlyMap<string, string> }> {
  const nothing = { texts: new Map<string, string>() }
  const choices = new Set(parts.map(({ choice }) => choice))
  if (choices.size < 3) return nothing // with the parts outside of choices
  const refused = new Set<number>()
  const texts = new Map<string, string>()
  for (const choice of choices) {
    const decision = await checkParts(
      parts.filter((part) => part.choice === choice),
      run,
    )
    if (decision.kind === 'passed') for (const [id, text] of decision.texts) texts.set(id, text)
    else if (choice === undefined) return nothing
    else refused.add(choice)
  }
  return refused.size > 0 ? { choices: refused, texts } : nothing
}

/** Replaces the texts of parts in their JSON. All other characters stay the same. Throws if a text can't be replaced. */
export function writeParts(json: string, parts: readonly ReadPart[], texts: ReadonlyMap<string, string>): string {
  let out = ''
  let at = 0
  for (const part of parts) {
    const text = texts.get(part.id)
    if (text === undefined) continue
    const written = part.write(text)
    if (written === undefined)
      throw new TypeError(`A guard changed a text of kind "${part.kind}" that can't be changed.`)
    out += json.slice(at, part.start) + written
    at = part.end
  }
  return out + json.slice(at)
}
