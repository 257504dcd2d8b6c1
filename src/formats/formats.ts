import type { AuthStyle, ProviderFormat, WireFormat } from '../types.ts'
import { anthropicMessages } from './anthropic-messages/format.ts'
import type { Format, UpstreamFormat } from './format.ts'
import { gemini } from './gemini/format.ts'
import { openaiChat } from './openai-chat/format.ts'
import { openaiResponses } from './openai-responses/format.ts'

/** The formats that are served: a folder and a line for each. */
const served: Partial<Record<WireFormat, Format>> = {
  'openai-chat': openaiChat,
  'openai-responses': openaiResponses,
  'anthropic-messages': anthropicMessages,
  gemini,
}

/** The format of clients; `undefined` when it is not served. */
export const formatOf = (name: WireFormat): Format | undefined => served[name]

/** The format of a provider. One that no client speaks is loaded with the first request that needs it. */
export const upstreamFormatOf = async (name: ProviderFormat): Promise<UpstreamFormat | undefined> =>
  name === 'bedrock-converse' ? (await import('./bedrock-converse/format.ts')).bedrockConverse : served[name]

/** The default header for credentials of a format. */
export function defaultAuth(name: ProviderFormat): AuthStyle {
  if (name === 'bedrock-converse') return 'bearer'
  return served[name]?.auth ?? (name === 'gemini' ? 'x-goog-api-key' : 'bearer')
}
