import { isObject, tryParseJson } from '../../../lib/json.ts'
import { setMember } from '../../../lib/json-edit.ts'
import {
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COMMA,
  findStringEnd,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
} from '../../../lib/json-scan.ts'
import type { guardKinds } from '../../../types/records/guard-fields.ts'
import type { ValueOf } from '../../../types/records/shapes.ts'
import type { ClientFormat } from '../../../types.ts'
import type { Guard } from '../guard.ts'
import { checkHeaders } from '../guard-shapes.ts'
import type { BuiltInGuard } from './finding-guard.ts'

/** Parameters with the same meaning in all formats. */
interface ChangedParameters {
  readonly temperature?: number
  readonly topP?: number
  /** Maximum length of the response, in tokens. */
  readonly maxTokens?: number
}

/** Changes to chat requests. */
export interface ChangeRules {
  /** System text to add before the client's. */
  readonly prepend?: string
  /** System text to add after the client's. */
  readonly append?: string
  /** Parameters to set, overriding the client's values. */
  readonly set?: ChangedParameters
  /** Maximum values. `maxTokens` also applies to requests that don't set it. */
  readonly max?: ChangedParameters
  /**
   * Headers to add to provider calls. They override the client's, except `-beta` headers, whose values are appended. `anthropic-` and `openai-`
   * headers are sent only to providers that support that format.
   */
  readonly providerHeaders?: ProviderHeaders
}

/** The headers that a guard can add. */
export type ProviderHeaders = ValueOf<(typeof guardKinds)['change']['providerHeaders']>

/** Creates a guard that changes chat requests in the client's own format and leaves every other character as it was. */
export function createChangeGuard(options: Pick<Guard, 'name'> & Partial<Guard> & ChangeRules): BuiltInGuard {
  const { prepend, append, set = {}, max = {}, providerHeaders, ...guardOptions } = options
  if (providerHeaders) checkHeaders('change().providerHeaders', { ...providerHeaders })
  return {
    ...guardOptions,
    on: ['request'],
    isImmediate: true,
    screen: { scan: () => 0 }, // the guard doesn't read any text
    check: () => undefined,
    ...(providerHeaders && { providerHeaders }),
    rewrite(json, format) {
      if (guardOptions.mode === 'watch') return json
      let text = json
      if (append !== undefined) text = addSystemText(text, { format, addedText: append, isLast: true })
      if (prepend !== undefined) text = addSystemText(text, { format, addedText: prepend, isLast: false })
      for (const name of PARAMETER_NAMES) text = setParameter(text, { format, name, value: set[name], max: max[name] })
      return text
    },
  }
}

const PARAMETER_NAMES = ['temperature', 'topP', 'maxTokens'] as const

/** The parameter names in each format. Gemini's are fields of `generationConfig`. */
const FIELDS_BY_FORMAT: Readonly<
  Record<ClientFormat, Readonly<Record<(typeof PARAMETER_NAMES)[number], readonly string[]>>>
> = {
  'openai-chat': { temperature: ['temperature'], topP: ['top_p'], maxTokens: ['max_completion_tokens', 'max_tokens'] },
  'openai-responses': { temperature: ['temperature'], topP: ['top_p'], maxTokens: ['max_output_tokens'] },
  'anthropic-messages': { temperature: ['temperature'], topP: ['top_p'], maxTokens: ['max_tokens'] },
  gemini: {
    temperature: ['temperature'],
    topP: ['topP', 'top_p'],
    maxTokens: ['maxOutputTokens', 'max_output_tokens'],
  },
  'ai-sdk': { temperature: ['temperature'], topP: ['topP'], maxTokens: ['maxOutputTokens'] },
}

interface ParameterOptions {
  format: ClientFormat
  name: (typeof PARAMETER_NAMES)[number]
  value: number | undefined
  max: number | undefined
}

function setParameter(json: string, { format, name, value, max }: ParameterOptions): string {
  if (value === undefined && max === undefined) return json
  const changeParameter = (objectJson: string) => {
    const fields = FIELDS_BY_FORMAT[format][name]
    const presentFields = fields.filter((field) => hasField(objectJson, field))
    const [defaultField = ''] = fields
    if (presentFields.length === 0 && value === undefined && name !== 'maxTokens') return objectJson
    return (presentFields.length > 0 ? presentFields : [defaultField]).reduce(
      (changedJson, field) => setMember(changedJson, field, (current) => applyLimit(current, { value, max })),
      objectJson,
    )
  }
  if (format !== 'gemini') return changeParameter(json)
  const configField = hasField(json, 'generation_config') ? 'generation_config' : 'generationConfig'
  return setMember(json, configField, (current = '{}') => changeParameter(current))
}

function applyLimit(
  current: string | undefined,
  { value, max = Infinity }: { value: number | undefined; max: number | undefined },
) {
  const requestedValue = value ?? (current === undefined ? undefined : tryParseJson(current))
  return JSON.stringify(typeof requestedValue === 'number' ? Math.min(requestedValue, max) : max)
}

function hasField(json: string, name: string): boolean {
  const value = tryParseJson(json)
  return isObject(value) && Object.hasOwn(value, name)
}

interface SystemText {
  format: ClientFormat
  addedText: string
  isLast: boolean
}

/** Adds system text where the format expects it. */
function addSystemText(json: string, { format, addedText, isLast }: SystemText): string {
  const joinTexts = (current: string | undefined) => {
    const text = current === undefined ? undefined : tryParseJson(current)
    if (typeof text !== 'string' || text === '') return JSON.stringify(addedText)
    return JSON.stringify(isLast ? `${text}\n\n${addedText}` : `${addedText}\n\n${text}`)
  }
  const insert = (arrayJson: string, element: object, count = isLast ? countElements(arrayJson) : 0) =>
    insertElement(arrayJson, JSON.stringify(element), count)
  switch (format) {
    case 'openai-chat':
    case 'ai-sdk':
      return setMember(json, format === 'ai-sdk' ? 'prompt' : 'messages', (turns = '[]') =>
        insert(turns, { role: 'system', content: addedText }, isLast ? countSystemTurns(turns) : 0),
      )
    case 'openai-responses':
      return setMember(json, 'instructions', joinTexts)
    case 'anthropic-messages':
      return setMember(json, 'system', (current) =>
        current?.startsWith('[') ? insert(current, { type: 'text', text: addedText }) : joinTexts(current),
      )
    case 'gemini': {
      const name = hasField(json, 'system_instruction') ? 'system_instruction' : 'systemInstruction'
      return setMember(json, name, (current = '{"parts":[]}') =>
        current.startsWith('{')
          ? setMember(current, 'parts', (parts = '[]') =>
              insert(parts.startsWith('[') ? parts : `[${parts}]`, { text: addedText }),
            )
          : joinTexts(current),
      )
    }
  }
}

function countSystemTurns(json: string): number {
  const turns = tryParseJson(json)
  const firstNonSystemIndex = Array.isArray(turns)
    ? turns.findIndex(({ role }) => role !== 'system' && role !== 'developer')
    : 0
  return firstNonSystemIndex === -1 && Array.isArray(turns) ? turns.length : Math.max(0, firstNonSystemIndex)
}

function countElements(json: string): number {
  const elements = tryParseJson(json)
  return Array.isArray(elements) ? elements.length : 0
}

/** Inserts an element into a JSON array at index `count`. */
function insertElement(json: string, element: string, count: number): string {
  if (countElements(json) === 0) return `[${element}]`
  if (count === 0) return `[${element},${json.slice(1)}`
  let depth = 0
  let elementCount = 0
  for (let index = 0; index < json.length; index++) {
    const code = json.charCodeAt(index)
    if (code === QUOTE) index = findStringEnd(json, index) - 1
    else if (code === OPEN_BRACE || code === OPEN_BRACKET) depth++
    else if (code === CLOSE_BRACE || code === CLOSE_BRACKET) depth--
    const isElementEnd = depth === 0 || (depth === 1 && code === COMMA)
    if (isElementEnd && ++elementCount === count) return `${json.slice(0, index)},${element}${json.slice(index)}`
  }
  return json
}
