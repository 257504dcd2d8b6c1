import type { ProviderSpecificData } from '../../types.ts'

/** The fields of `providerSpecificData` for clouds. */
export type CloudSetting = 'resource' | 'apiVersion' | 'deployment' | 'region' | 'project'

/** What a cloud requires of a connection. Problems are whole sentences, without any secret. */
export interface CloudRules {
  /** The settings that it accepts. */
  settings: readonly CloudSetting[]
  /** The problem with the settings, if any; some credentials make settings unnecessary. */
  settingsProblem(data: ProviderSpecificData, apiKey: string | undefined): string | undefined
  /** May the credential be a JSON file? */
  takesJson?: true
  credentialProblem(apiKey: string): string | undefined
}
