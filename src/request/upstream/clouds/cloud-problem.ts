import { tryParseJson } from '../../../lib/json.ts'
import { getDefinition } from '../../../protocols/providers/provider-names.ts'
import type { Catalog, ProviderSpecificData } from '../../../types.ts'
import { cloudRules, cloudSettings } from './cloud-rules.ts'

/** A connection's settings and credential. */
export interface CloudSettings {
  data: ProviderSpecificData | undefined
  apiKey: string | undefined
}

/**
 * Returns the problem with settings or a credential that don't fit the provider's cloud, or that only a cloud needs: a sentence, or a predicate after
 * the quoted field.
 */
export function findCloudProblem(
  catalog: Catalog,
  provider: string,
  { data = {}, apiKey }: CloudSettings,
): string | undefined {
  const cloud = getDefinition(catalog, provider)?.cloud
  const rules = cloud && cloudRules[cloud]
  const unsupportedSetting = cloudSettings.find((name) => data[name] !== undefined && !rules?.settings.includes(name))
  if (unsupportedSetting) return `"providerSpecificData.${unsupportedSetting}" has no effect for "${provider}"; omit it`
  if (apiKey?.startsWith('{')) {
    if (tryParseJson(apiKey) === undefined) return '"apiKey" looks like JSON but is not valid JSON'
    if (!rules?.acceptsJson) return `"apiKey" must be the bare key; "${provider}" does not accept JSON`
  }
  return (
    rules?.findSettingsProblem(data, apiKey) ??
    (apiKey === undefined ? undefined : rules?.findCredentialProblem(apiKey))
  )
}
