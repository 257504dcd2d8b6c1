import type { CanonicalRequest } from '../../../src/formats/canonical/request.ts'
import { createWarnings } from '../../../src/formats/canonical/warnings.ts'
import type { ReadContext, TargetContext, Translator, WriteContext } from '../../../src/formats/translator.ts'
import type { Traits } from '../../../src/traits.ts'

/** What translators are given, with ids that count: `id1`, `id2` … */
export function contexts(translator: Translator, options: { isStrict?: boolean; traits?: Partial<Traits> } = {}) {
  const warnings = createWarnings({ isStrict: options.isStrict ?? false, names: translator.fieldNames })
  const traits = { ...translator.traits, ...options.traits }
  const origin = { format: 'openai-chat', account: 'vendor/1' } as const
  let count = 0
  const newId = () => `id${++count}`
  const read: ReadContext = { origin, traits, newId, warnings }
  const target: TargetContext = { model: 'm', traits, origin, warnings }
  const write = (request: Partial<CanonicalRequest> = {}): WriteContext => ({
    request: { model: 'm', stream: true, streamUsage: true, turns: [], tools: [], options: {}, ...request },
    model: 'm',
    newId,
    now: 1_700_000_000,
  })
  return { warnings, read, target, write }
}
