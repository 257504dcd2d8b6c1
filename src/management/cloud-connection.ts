import { tryParseJson } from '../lib/json.ts'
import { definitionOf } from '../providers/names.ts'
import type { Catalog, ProviderSpecificData } from '../types.ts'
import { cloudRules, cloudSettings } from '../upstream/clouds/known.ts'
import { invalidInput } from './input.ts'

/** What a connection is to be. */
interface Checked {
  data: ProviderSpecificData | undefined
  apiKey: string | undefined
}

/** Throws `INVALID_REQUEST` unless the settings and the credential are what the provider's cloud, if it is in one, can use. */
export function checkCloud(catalog: Catalog, provider: string, { data = {}, apiKey }: Checked): void {
  const cloud = definitionOf(catalog, provider)?.cloud
  const rules = cloud && cloudRules[cloud]
  const strange = cloudSettings.find((name) => data[name] !== undefined && !rules?.settings.includes(name))
  if (strange) throw invalidInput(`"providerSpecificData.${strange}" means nothing to "${provider}"; leave it out`)
  const isJson = apiKey?.startsWith('{')
  if (isJson && tryParseJson(apiKey ?? '') === undefined) throw invalidInput('"apiKey" begins like JSON and is none')
  if (isJson && !rules?.takesJson) throw invalidInput(`"apiKey" must be the bare key; "${provider}" takes no JSON`)
  const problem =
    rules?.settingsProblem(data, apiKey) ?? (apiKey === undefined ? undefined : rules?.credentialProblem(apiKey))
  if (problem) throw invalidInput(problem)
}
