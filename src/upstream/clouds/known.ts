import type { Cloud } from '../../types.ts'
import { azureRules } from './azure.ts'
import { bedrockRules } from './bedrock.ts'
import type { CloudRules, CloudSetting } from './rules.ts'
import { vertexRules } from './vertex.ts'

/** The rules of every cloud. */
export const cloudRules: Readonly<Record<Cloud, CloudRules>> = {
  azure: azureRules,
  bedrock: bedrockRules,
  vertex: vertexRules,
}

/** The settings of all clouds. */
export const cloudSettings: readonly CloudSetting[] = [
  ...new Set(Object.values(cloudRules).flatMap(({ settings }) => settings)),
]
