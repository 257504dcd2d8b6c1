import { baseTraits } from '../../../../../src/protocols/formats/canonical/base-traits.ts'
import type {
  AssistantPart,
  ToolResultContent,
  UserPart,
} from '../../../../../src/protocols/formats/canonical/canonical-parts.ts'
import type { CanonicalRequest } from '../../../../../src/protocols/formats/canonical/canonical-request.ts'
import type {
  AssistantTurn,
  ToolResult,
  ToolTurn,
  Turn,
  UserTurn,
} from '../../../../../src/protocols/formats/canonical/canonical-turns.ts'
import { createWarnings } from '../../../../../src/protocols/formats/canonical/canonical-warnings.ts'
import { prepareRequest } from '../../../../../src/protocols/formats/canonical/prepare/prepare.ts'
import { optionNames } from '../../../../../src/protocols/formats/openai-chat/chat-fields.ts'
import type { OptionName, Traits } from '../../../../../src/traits.ts'

export const text = (text: string) => ({ type: 'text', text }) as const
export const user = (...content: (string | UserPart)[]): UserTurn => ({
  role: 'user',
  content: content.map((part) => (typeof part === 'string' ? text(part) : part)),
})
export const assistant = (...content: (string | AssistantPart)[]): AssistantTurn => ({
  role: 'assistant',
  content: content.map((part) => (typeof part === 'string' ? text(part) : part)),
})
export const call = (id: string, name = 'f') => ({ type: 'tool-call', id, name, arguments: '{}' }) as const
export const result = (callId: string, ...content: (string | ToolResultContent)[]): ToolResult => ({
  callId,
  content: content.map((part) => (typeof part === 'string' ? text(part) : part)),
})
export const tool = (...results: ToolResult[]): ToolTurn => ({ role: 'tool', results })
export const system = (content: string, as: 'instructions' | 'system' | 'developer' = 'system'): Turn => ({
  role: 'system',
  sentAs: as,
  content: [text(content)],
})

export const ORIGIN = { format: 'anthropic-messages', account: 'anthropic/1' } as const

export interface Input {
  traits?: Partial<Traits>
  supportedOptions?: OptionName[]
  isStrict?: boolean
}

/** Prepares a request for a target with the given traits. */
export function prepare(
  request: Partial<CanonicalRequest>,
  { traits = {}, supportedOptions, isStrict = false }: Input = {},
) {
  const warnings = createWarnings({ isStrict })
  const fullRequest: CanonicalRequest = { ...EMPTY, ...request }
  const prepared = prepareRequest(fullRequest, {
    model: 'm',
    traits: { ...baseTraits, ...traits },
    origin: ORIGIN,
    warnings,
    supportedOptions: new Set(supportedOptions ?? (Object.keys(optionNames) as OptionName[])), // the keys are the option names
  })
  return { ...prepared, warnings: warnings.list() }
}

const EMPTY: CanonicalRequest = { model: 'm', stream: false, streamUsage: false, turns: [], tools: [], options: {} }
