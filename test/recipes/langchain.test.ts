import { addAgentRecipeTests } from './agents.ts'

addAgentRecipeTests('langchain')
