import { once } from '../lib/promises.ts'
import type { AuthStyle, ClientFormat, ProviderFormat, WireFormat } from '../types.ts'
import { aiSdk } from './ai-sdk/format.ts'
import { anthropicMessages } from './anthropic-messages/format.ts'
import type { Format, SharedFormat, UpstreamFormat } from './format.ts'
import { gemini } from './gemini/format.ts'
import { openaiChat } from './openai-chat/format.ts'
import { openaiResponses } from './openai-responses/format.ts'

/** The formats that both clients and providers speak: a folder and a line for each. */
const sharedFormats: Readonly<Record<WireFormat, SharedFormat>> = {
  'openai-chat': openaiChat,
  'openai-responses': openaiResponses,
  'anthropic-messages': anthropicMessages,
  gemini,
}

/** The formats that clients speak: those above, and those that no provider speaks. */
const clientFormats: Readonly<Record<ClientFormat, Format>> = { ...sharedFormats, 'ai-sdk': aiSdk }

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
export const formatOf = (name: ClientFormat): Format => clientFormats[name]

/** The format of this name, for clients and for providers; `undefined` where only one of them speaks it. */
export const sharedFormatOf = (name: ClientFormat): SharedFormat | undefined =>
  isShared(name) ? sharedFormats[name] : undefined

const isShared = (name: ClientFormat | ProviderFormat): name is WireFormat => name in sharedFormats

/** The provider format of this name. */
export const upstreamFormatOf = async (name: ProviderFormat): Promise<UpstreamFormat> =>
  isShared(name) ? sharedFormats[name] : providerFormats[name].load()

/** The header for credentials by default in a format. */
export const defaultAuth = (name: ProviderFormat): AuthStyle =>
  isShared(name) ? sharedFormats[name].auth : providerFormats[name].auth
