import { once } from '../../lib/promises.ts'
import type { AuthStyle, ClientFormat, ProviderFormat, WireFormat } from '../../types.ts'
import { aiSdk } from './ai-sdk/ai-sdk-format.ts'
import { anthropicMessages } from './anthropic-messages/anthropic-format.ts'
import type { Format, SharedFormat, UpstreamFormat } from './format.ts'
import { gemini } from './gemini/gemini-format.ts'
import { openaiChat } from './openai-chat/chat-format.ts'
import { openaiResponses } from './openai-responses/responses-format.ts'

/** The formats for both clients and providers. Each has its own folder and one line here. */
const sharedFormats: Readonly<Record<WireFormat, SharedFormat>> = {
  'openai-chat': openaiChat,
  'openai-responses': openaiResponses,
  'anthropic-messages': anthropicMessages,
  gemini,
}

/** The formats for clients: the shared ones above, and the client-only ones. */
const clientFormats: Readonly<Record<ClientFormat, Format>> = { ...sharedFormats, 'ai-sdk': aiSdk }

interface LazyFormat {
  auth: AuthStyle
  load(): Promise<UpstreamFormat>
}

/** The formats for providers only. Each is lazy-loaded. */
const providerFormats: Readonly<Record<Exclude<ProviderFormat, WireFormat>, LazyFormat>> = {
  'bedrock-converse': {
    auth: 'bearer',
    load: once(async () => (await import('./bedrock-converse/converse-format.ts')).bedrockConverse),
  },
}

/** All formats for clients. */
export const formats: readonly Format[] = Object.values(clientFormats)

/** Returns the client format with this name. */
export const getFormat = (name: ClientFormat): Format => clientFormats[name]

/** Returns the format with this name if it is for both clients and providers. */
export const getSharedFormat = (name: ClientFormat): SharedFormat | undefined =>
  isSharedFormat(name) ? sharedFormats[name] : undefined

const isSharedFormat = (name: ClientFormat | ProviderFormat): name is WireFormat => name in sharedFormats

/** Loads the provider format with this name. */
export const loadUpstreamFormat = async (name: ProviderFormat): Promise<UpstreamFormat> =>
  isSharedFormat(name) ? sharedFormats[name] : providerFormats[name].load()

/** Returns a format's default credential header. */
export const getDefaultAuth = (name: ProviderFormat): AuthStyle =>
  isSharedFormat(name) ? sharedFormats[name].auth : providerFormats[name].auth
