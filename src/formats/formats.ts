import type { AuthStyle, ProviderFormat, WireFormat } from '../types.ts'
import { anthropicMessages } from './anthropic-messages/format.ts'
import type { Format, UpstreamFormat } from './format.ts'
import { gemini } from './gemini/format.ts'
import { openaiChat } from './openai-chat/format.ts'
import { openaiResponses } from './openai-responses/format.ts'

/** The formats that model requests are served in, each a folder and a line here. */
const served: Partial<Record<WireFormat, Format>> = {
  'openai-chat': openaiChat,
  'openai-responses': openaiResponses,
  'anthropic-messages': anthropicMessages,
  gemini,
}

/** What is known of a wire format; `undefined` while it is not served. */
export const formatOf = (name: WireFormat): Format | undefined => served[name]

/** The same for a provider's. One that no client speaks is loaded when the first request goes there. */
export const upstreamFormatOf = async (name: ProviderFormat): Promise<UpstreamFormat | undefined> =>
  name === 'bedrock-converse' ? (await import('./bedrock-converse/format.ts')).bedrockConverse : served[name]

/** How a provider of this format wants its credential. */
export function defaultAuth(name: ProviderFormat): AuthStyle {
  if (name === 'bedrock-converse') return 'bearer'
  return served[name]?.auth ?? (name === 'gemini' ? 'x-goog-api-key' : 'bearer')
}
