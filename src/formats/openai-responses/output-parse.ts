import { isObject, type JsonObject } from '../../lib/json.ts'
import { argumentsText } from '../canonical/arguments.ts'
import { defined } from '../canonical/defined.ts'
import type { Losses } from '../canonical/losses.ts'
import type { AssistantPart, TextPart, ToolCallPart } from '../canonical/parts.ts'
import { parseTokens } from '../openai-logprobs.ts'
import type { ReadContext } from '../translator.ts'
import { parseAnnotations } from './annotations.ts'
import { imagePart, searchPart } from './assistant-parse.ts'
import { clientCall } from './client-tools.ts'
import { parseThought } from './reasoning.ts'

/** Reads the items of one answer; no two calls in it have the same id. */
export function createOutputParser({ origin, newId, losses }: ReadContext) {
  const ids = new Set<string>()

  /** The parts that an item of a provider's answer is made of. An item of a tool that nobody asked for is left out. */
  function parse(item: JsonObject): AssistantPart[] {
    switch (item.type) {
      case 'message':
        return parseMessage(item, losses)
      case 'reasoning':
        return one(parseThought(item, origin))
      case 'function_call':
      case 'custom_tool_call':
        return one(parseCall(item))
      case 'web_search_call':
        return [searchPart(item)]
      case 'image_generation_call':
        return one(imagePart(item))
      default: {
        const call = clientCall(item)
        if (call) return [{ ...call, id: callId(item) }]
        losses.dropped(text(item.type) ?? 'item')
        return []
      }
    }
  }

  function parseCall(item: JsonObject): ToolCallPart | undefined {
    const name = text(item.name)
    if (!name) return void losses.dropped('function_call') // nobody could run it
    const id = callId(item)
    if (item.type === 'custom_tool_call')
      return { type: 'tool-call', id, name, arguments: text(item.input) ?? '', isFreeForm: true }
    return { type: 'tool-call', id, name, arguments: argumentsText(item.arguments ?? '') }
  }

  /** The id under which a result is to come back. Some providers have only the item's, or say one twice. */
  function callId(item: JsonObject): string {
    const given = text(item.call_id) || text(item.id) || text(item.item_id)
    const id = given && !ids.has(given) ? given : `call_${newId()}`
    ids.add(id)
    return id
  }

  return { parse, callId }
}

function parseMessage({ content, phase }: JsonObject, losses: Losses): AssistantPart[] {
  if (!Array.isArray(content)) return []
  return content.filter(isObject).flatMap((part): AssistantPart[] => {
    if (part.type === 'refusal') return text(part.refusal) ? [{ type: 'refusal', text: text(part.refusal) ?? '' }] : []
    loseUnknown(part, losses)
    const said = text(part.text)
    if (part.type !== 'output_text' || !said) return []
    const citations = parseAnnotations(part.annotations, losses)
    return [
      defined<TextPart>({
        type: 'text',
        text: said,
        phase: phaseOf(phase),
        citations: citations.length > 0 ? citations : undefined,
        logprobs: parseTokens(part.logprobs),
      }),
    ]
  })
}

/** Neither a text nor a refusal? Some providers leave the type out. */
export function loseUnknown({ type }: JsonObject, losses: Losses): void {
  if (typeof type === 'string' && type !== 'output_text' && type !== 'refusal') losses.dropped(type)
}

export const phaseOf = (phase: unknown): TextPart['phase'] =>
  phase === 'commentary' || phase === 'final_answer' ? phase : undefined

const one = <T>(part: T | undefined): T[] => (part ? [part] : [])

const text = (value: unknown): string | undefined => (typeof value === 'string' ? value : undefined)
