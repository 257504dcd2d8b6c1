import type { WireFormat } from '../types.ts'

/** The wire format of a compatible provider, whose address the user gives; `undefined` for any other provider id. */
export function compatibleFormat(provider: string): WireFormat | undefined {
  if (provider.startsWith('openai-compatible')) return 'openai-chat'
  if (provider.startsWith('anthropic-compatible')) return 'anthropic-messages'
  return undefined
}
