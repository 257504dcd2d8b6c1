import type { ProviderSpecificData } from '../../types.ts'

/** The fields of `providerSpecificData` that only clouds know. */
export type CloudSetting = 'resource' | 'apiVersion' | 'deployment' | 'region' | 'project'

/** What a cloud expects of a connection. Problems are whole sentences, without any secret. */
export interface CloudRules {
  /** Which settings it takes. */
  settings: readonly CloudSetting[]
  /** What is wrong with the settings; some credentials bring what others need told. */
  settingsProblem(data: ProviderSpecificData, apiKey: string | undefined): string | undefined
  /** Its credential may be a file of JSON. */
  takesJson?: true
  credentialProblem(apiKey: string): string | undefined
}
