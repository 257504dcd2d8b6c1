import { decodeUtf8Lenient } from '../../lib/bytes.ts'
import { isObject, type JsonObject, tryParseJson } from '../../lib/json.ts'
import { scanTopLevel } from '../../lib/json-scan.ts'
import { parseExactly } from '../../protocols/formats/canonical/exact-json.ts'
import type { ClientFormat } from '../../types.ts'
import { dropProbabilities } from '../edit-text/edit-text.ts'
import { createCallPart, findCalls } from './called-tools.ts'
import type { GuardPart } from './guard.ts'
import { createGuardRejection } from './guard-rejection.ts'
import { joinLists } from './join-lists.ts'
import { checksCalls, restoresMaskedValues } from './kinds/finding-guard.ts'
import { type ReadPart, readParts } from './read-parts.ts'
import { rejectionFormats } from './rejections/rejection-formats.ts'
import type { GuardDecision, GuardRun, RejectionDecision } from './run-guards.ts'

/** The body of a checked response. */
export interface CheckedBody {
  body: string | Uint8Array
  rejection?: RejectionDecision
}

export interface ResponseCheck {
  run: GuardRun
  format: ClientFormat
  isChat: boolean
  isJson: boolean
  /** Returns whether the request contains this string. */
  isInRequest(text: string): boolean
}

/**
 * Checks a complete response. Leaves everything that guards don't change exactly as it was. A rejected chat response still reports its usage and ends
 * with the finish reason for filtered content. Rejected responses of other kinds become errors.
 */
export async function checkResponse(
  body: string | Uint8Array,
  { run, format, isChat, isJson, isInRequest }: ResponseCheck,
): Promise<CheckedBody> {
  const text = typeof body === 'string' ? body : decodeUtf8Lenient(body)
  const json = isJson ? tryParseJson(text) : undefined
  if (!isObject(json)) {
    const decision = await run.check({ parts: [createTextPart(text)], stage: 'answer', final: true })
    if (decision.kind === 'refused') throw createGuardRejection(decision.guard, decision.category)
    const changedText = decision.kind === 'passed' ? decision.texts.get('0') : undefined
    return { body: changedText ?? body }
  }
  const parts = readParts(text, json, 'answer')
  const echoes = format === 'openai-responses' && isChat ? findEchoes(text, parts, isInRequest) : EMPTY_PARTS
  const outputParts = [...parts.filter((part) => !echoes.has(part)), ...listCallParts(json, run)]
  const decision = await checkParts(outputParts, run)
  const restoredTexts = await restoreEchoes([...echoes], run)
  if (decision.kind === 'passed') {
    const texts = new Map([...decision.texts, ...restoredTexts])
    return { body: texts.size > 0 ? dropTokenProbabilities(writeParts(text, parts, texts)) : body }
  }
  if (decision.kind !== 'refused' || !isChat)
    throw createGuardRejection(decision.guard, 'category' in decision ? decision.category : undefined)
  const { message } = createGuardRejection(decision.guard, decision.category)
  const { choices, texts } = await checkChoices(outputParts, run)
  const newText = dropTokenProbabilities(writeParts(text, parts, new Map([...texts, ...restoredTexts])))
  const exactJson = parseExactly(newText) as JsonObject // an earlier step has parsed it
  const reason = { message, category: decision.category }
  return {
    body: JSON.stringify(rejectionFormats[format].writeResponse(exactJson, reason, choices)),
    rejection: decision,
  }
}

const createTextPart = (text: string): GuardPart => ({ id: '0', role: 'assistant', kind: 'text', text, isOlder: false })

/** Lists the complete tool calls if any guard checks them. */
const listCallParts = (json: JsonObject, run: GuardRun): ReadPart[] =>
  run.getGuards('answer').some(checksCalls)
    ? findCalls(json).map(({ choice, ...call }, index) => ({
        ...createCallPart(`call ${index}`, call),
        ...{ start: 0, end: 0, write: () => undefined, choice: choice === '' ? undefined : Number(choice) },
      }))
    : []

const EMPTY_PARTS: ReadonlySet<ReadPart> = new Set()

/** Finds strings that repeat the request outside a Responses object's output. */
function findEchoes(
  json: string,
  parts: readonly ReadPart[],
  isInRequest: ResponseCheck['isInRequest'],
): ReadonlySet<ReadPart> {
  const { spans } = scanTopLevel(json, ['output'])
  const isOutput = ({ start }: ReadPart) => spans.some((span) => start >= span.start && start < span.end)
  return new Set(parts.filter((part) => !isOutput(part) && isInRequest(part.text)))
}

/** Restores masked values in strings that repeat the request. Other guards don't check those strings again. */
async function restoreEchoes(parts: readonly ReadPart[], run: GuardRun): Promise<ReadonlyMap<string, string>> {
  const decision = await run.check(
    { parts, stage: 'answer', final: true },
    run.getGuards('answer').filter(restoresMaskedValues),
  )
  return decision.kind === 'passed' ? decision.texts : new Map()
}

/** Removes token probabilities, because they repeat the unchanged text. */
function dropTokenProbabilities(json: string): string {
  if (!/"logprobs(?:Result)?"\s*:\s*[{[]/.test(json)) return json
  const exactJson = parseExactly(json)
  dropProbabilities(exactJson)
  return JSON.stringify(exactJson)
}

/** Checks the parts, then each message's consecutive strings joined together. */
export async function checkParts(parts: readonly ReadPart[], run: GuardRun): Promise<GuardDecision> {
  const decision = await run.check({ parts, stage: 'answer', final: true })
  if (decision.kind !== 'passed') return decision
  const texts = new Map(decision.texts)
  const joinedLists = joinLists(parts.map((part) => ({ ...part, text: texts.get(part.id) ?? part.text })))
  if (joinedLists.length === 0) return decision
  const joinedDecision = await run.check({ parts: joinedLists.map(({ part }) => part), stage: 'answer', final: true })
  if (joinedDecision.kind !== 'passed') return joinedDecision
  for (const { part, sourceParts } of joinedLists) {
    const text = joinedDecision.texts.get(part.id)
    if (text !== undefined) for (const [index, { id }] of sourceParts.entries()) texts.set(id, index === 0 ? text : '')
  }
  return { kind: 'passed', texts }
}

/** Checks each choice separately. `choices` contains the rejected ones; if it is absent, the entire response must be rejected. */
async function checkChoices(
  parts: readonly ReadPart[],
  run: GuardRun,
): Promise<{ choices?: ReadonlySet<number>; texts: ReadonlyMap<string, string> }> {
  const fullRejection = { texts: new Map<string, string>() }
  const choices = new Set(parts.map(({ choice }) => choice))
  if (choices.size < 3) return fullRejection // fewer than two choices, plus the parts outside of choices
  const rejectedChoices = new Set<number>()
  const texts = new Map<string, string>()
  for (const choice of choices) {
    const decision = await checkParts(
      parts.filter((part) => part.choice === choice),
      run,
    )
    if (decision.kind === 'passed') for (const [id, text] of decision.texts) texts.set(id, text)
    else if (choice === undefined) return fullRejection
    else rejectedChoices.add(choice)
  }
  return rejectedChoices.size > 0 ? { choices: rejectedChoices, texts } : fullRejection
}

/** Writes the parts' new text into their JSON without changing any other character. Throws if a string can't be replaced. */
export function writeParts(json: string, parts: readonly ReadPart[], texts: ReadonlyMap<string, string>): string {
  let output = ''
  let position = 0
  for (const part of parts) {
    const text = texts.get(part.id)
    if (text === undefined) continue
    const rewritten = part.write(text)
    if (rewritten === undefined)
      throw new TypeError(`A guard changed a text of kind "${part.kind}" that can't be changed.`)
    output += json.slice(position, part.start) + rewritten
    position = part.end
  }
  return output + json.slice(position)
}
