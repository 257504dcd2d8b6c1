import { converses } from './agents.ts'

converses('openai-agents')
