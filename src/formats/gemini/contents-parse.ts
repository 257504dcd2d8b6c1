import { isObject } from '../../lib/json.ts'
import { elementFields, type Fields } from '../canonical/fields.ts'
import type { AssistantPart, ReasoningPart, TextPart, ToolCallPart, UserPart } from '../canonical/parts.ts'
import type { SystemTurn, ToolResult, Turn } from '../canonical/turns.ts'
import type { Warnings } from '../canonical/warnings.ts'
import { createCallAssembler, type WholeCall } from './call-assembler.ts'
import { createCallBook } from './call-book.ts'
import { parseModelPart, parseResult, parseUserPart } from './parts-parse.ts'
import { parseSignature } from './signature.ts'

/** `contents`, where the model's parts are its turn, results are a turn of the tools, and the rest of a user's parts stands behind them. */
export function parseContents(body: Fields, warnings: Warnings): Turn[] {
  const given = body.any('contents')
  const contents = isObject(given) ? [given] : (body.list('contents') ?? [])
  const turns: Turn[] = []
  const calls = createCallBook()
  const assembler = createCallAssembler(() => warnings.dropped('functionCall'))

  contents.forEach((entry, index) => {
    const content = elementFields(entry, `contents[${index}]`, warnings)
    const parts = partsOf(content, warnings)
    const role = content.text('role') || 'user'
    if (role === 'model') model(parts)
    else if (role === 'user' || role === 'function') user(parts, content.at)
    else warnings.refuse(content.path('role'), 'must be "user" or "model".')
    content.drop()
  })
  say(assembler.flush().map((call) => callPart(call, undefined)))
  return turns

  function user(parts: readonly Fields[], at: string) {
    say(assembler.flush().map((call) => callPart(call, undefined)))
    const results: ToolResult[] = []
    const said: UserPart[] = []
    for (const part of parts) {
      const result = parseResult(part, calls, warnings)
      if (result) results.push(result)
      else said.push(...parseUserPart(part, warnings))
      part.drop()
    }
    answer(results)
    if (said.length === 0 && results.length > 0) return
    const turn: Turn = { role: 'user', content: said }
    warnings.place(turn, at)
    turns.push(turn)
  }

  function model(parts: readonly Fields[]) {
    for (const part of parts) {
      const call = part.fields('functionCall')
      const isCall = call !== undefined
      call?.ignore('id', 'name', 'args', 'partialArgs', 'willContinue')
      call?.drop()
      const whole = isCall ? assembler.take(part.value) : assembler.flush()
      say(whole.map((call) => callPart(call, isCall ? part : undefined)))
      if (isCall) part.ignore('thought', 'thoughtSignature')
      else {
        const result = parseResult(part, calls, warnings) // a function that ran at Google
        if (result) answer([result])
        else say(parseModelPart(part, warnings))
      }
      part.drop()
    }
  }

  function callPart({ id, name, arguments: args, signature }: WholeCall, at: Fields | undefined): ToolCallPart {
    const part: ToolCallPart = { type: 'tool-call', id: calls.call(id, name), name, arguments: args }
    const state = parseSignature(signature)
    if (state) part.state = state
    if (at) warnings.place(part, at.at)
    return part
  }

  function say(parts: readonly AssistantPart[]) {
    if (parts.length === 0) return
    const last = turns.at(-1)
    const content = last?.role === 'assistant' ? last.content : []
    if (last?.role !== 'assistant') turns.push({ role: 'assistant', content })
    for (const part of parts) joinText(content, part)
  }

  function answer(results: readonly ToolResult[]) {
    if (results.length === 0) return
    const last = turns.at(-1)
    if (last?.role === 'tool') last.results.push(...results)
    else turns.push({ role: 'tool', results: [...results] })
  }
}

/** `systemInstruction`: each part of it a block. */
export function parseSystem(body: Fields, warnings: Warnings): SystemTurn[] {
  const given = body.any('systemInstruction')
  if (typeof given === 'string') return given === '' ? [] : [instructions([{ type: 'text', text: given }])]
  const content = body.fields('systemInstruction')
  if (!content) return []
  const texts = partsOf(content, warnings).map((part): TextPart => {
    const text = part.text('text') ?? warnings.refuse(part.at, 'instructions are texts.')
    part.drop()
    return { type: 'text', text }
  })
  return texts.length > 0 ? [instructions(texts)] : []
}

const instructions = (content: TextPart[]): SystemTurn => ({ role: 'system', as: 'instructions', content })

function partsOf(content: Fields, warnings: Warnings): Fields[] {
  const given = content.any('parts')
  const parts = isObject(given) ? [given] : (content.list('parts') ?? [])
  return parts.map((entry, index) => elementFields(entry, `${content.path('parts')}[${index}]`, warnings))
}

/** Clients give a streamed answer back as they got it, in many small texts. A signature stands on the text that it ends. */
function joinText(content: AssistantPart[], part: AssistantPart) {
  const last = content.at(-1)
  if (!last || !isWords(last) || !isWords(part) || last.type !== part.type || last.state) content.push(part)
  else content.splice(-1, 1, { ...last, ...part, text: last.text + part.text })
}

const isWords = (part: AssistantPart): part is TextPart | ReasoningPart =>
  part.type === 'text' || part.type === 'reasoning'
