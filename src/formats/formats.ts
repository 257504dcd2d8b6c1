import { once } from '../lib/once.ts'
import type { AuthStyle, ProviderFormat, WireFormat } from '../types.ts'
import { anthropicMessages } from './anthropic-messages/format.ts'
import type { Endpoint } from './endpoint.ts'
import type { Format, UpstreamFormat } from './format.ts'
import { gemini } from './gemini/format.ts'
import { openaiChat } from './openai-chat/format.ts'
import { openaiResponses } from './openai-responses/format.ts'

/** The formats of clients: a folder and a line for each. */
const served: Readonly<Record<WireFormat, Format>> = {
  'openai-chat': openaiChat,
  'openai-responses': openaiResponses,
  'anthropic-messages': anthropicMessages,
  gemini,
}

interface Deferred {
  auth: AuthStyle
  load(): Promise<UpstreamFormat>
}

/** The formats that only providers speak, each loaded with the first request that needs it. */
const deferred: Readonly<Record<Exclude<ProviderFormat, WireFormat>, Deferred>> = {
  'bedrock-converse': {
    auth: 'bearer',
    load: once(async () => (await import('./bedrock-converse/format.ts')).bedrockConverse),
  },
}

/** The formats of clients. */
export const formats: readonly Format[] = Object.values(served)

/** All endpoints of model requests; src/http/ serves each of them. */
export const endpoints: readonly Endpoint[] = formats.flatMap((format) => format.endpoints)

/** The format of clients. */
export const formatOf = (name: WireFormat): Format => served[name]

const isServed = (name: ProviderFormat): name is WireFormat => name in served

/** The format of a provider. */
export const upstreamFormatOf = async (name: ProviderFormat): Promise<UpstreamFormat> =>
  isServed(name) ? served[name] : deferred[name].load()

/** The default header for credentials of a format. */
export const defaultAuth = (name: ProviderFormat): AuthStyle =>
  isServed(name) ? served[name].auth : deferred[name].auth
