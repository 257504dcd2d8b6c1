import type { CanonicalRequest } from '../../../src/protocols/formats/canonical/canonical-request.ts'
import { createResponseWarnings, createWarnings } from '../../../src/protocols/formats/canonical/canonical-warnings.ts'
import type {
  ReaderContext,
  TargetContext,
  Translator,
  UpstreamTranslator,
  WriterContext,
} from '../../../src/protocols/formats/translator.ts'
import type { Traits } from '../../../src/traits.ts'
import type { ProviderFormat } from '../../../src/types.ts'

interface ContextOptions {
  isStrict?: boolean
  traits?: Partial<Traits>
  /** The provider's format. */
  format?: ProviderFormat
}

/** Creates the contexts for translators. IDs are sequential: `id1`, `id2`, and so on. */
export function contexts(translator: UpstreamTranslator | Translator, options: ContextOptions = {}) {
  const names = 'fieldNames' in translator ? translator.fieldNames : {}
  const warnings = createWarnings({ isStrict: options.isStrict ?? false, names })
  const traits = { ...translator.traits, ...options.traits }
  const origin = { format: options.format ?? 'openai-chat', account: 'vendor/1' }
  let count = 0
  const newId = () => `id${++count}`
  const responseWarnings = createResponseWarnings()
  const read: ReaderContext = { origin, traits, newId, responseWarnings }
  const target: TargetContext = { model: 'm', traits, origin, warnings }
  const write = (request: Partial<CanonicalRequest> = {}): WriterContext => ({
    request: { model: 'm', stream: true, streamUsage: true, turns: [], tools: [], options: {}, ...request },
    model: 'm',
    newId,
    nowSeconds: 1_700_000_000,
    responseWarnings,
  })
  return { warnings, responseWarnings, read, target, write }
}
