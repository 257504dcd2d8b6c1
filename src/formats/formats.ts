import { once } from '../lib/promises.ts'
import type { AuthStyle, ProviderFormat, WireFormat } from '../types.ts'
import { anthropicMessages } from './anthropic-messages/format.ts'
import type { Format, UpstreamFormat } from './format.ts'
import { gemini } from './gemini/format.ts'
import { openaiChat } from './openai-chat/format.ts'
import { openaiResponses } from './openai-responses/format.ts'

/** The formats that clients speak: a folder and a line for each. */
const clientFormats: Readonly<Record<WireFormat, Format>> = {
  'openai-chat': openaiChat,
  'openai-responses': openaiResponses,
  'anthropic-messages': anthropicMessages,
  gemini,
}

interface DeferredFormat {
  auth: AuthStyle
  load(): Promise<UpstreamFormat>
}

/** The formats that only providers speak, each loaded by the first request that needs it. */
const providerFormats: Readonly<Record<Exclude<ProviderFormat, WireFormat>, DeferredFormat>> = {
  'bedrock-converse': {
    auth: 'bearer',
    load: once(async () => (await import('./bedrock-converse/format.ts')).bedrockConverse),
  },
}

/** All formats that clients speak. */
export const formats: readonly Format[] = Object.values(clientFormats)

/** The client format of this name. */
export const formatOf = (name: WireFormat): Format => clientFormats[name]

const isClientFormat = (name: ProviderFormat): name is WireFormat => name in clientFormats

/** The provider format of this name. */
export const upstreamFormatOf = async (name: ProviderFormat): Promise<UpstreamFormat> =>
  isClientFormat(name) ? clientFormats[name] : providerFormats[name].load()

/** The header for credentials by default in a format. */
export const defaultAuth = (name: ProviderFormat): AuthStyle =>
  isClientFormat(name) ? clientFormats[name].auth : providerFormats[name].auth
