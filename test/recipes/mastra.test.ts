import { addAgentRecipeTests } from './agents.ts'

addAgentRecipeTests('mastra')
