import { converses } from './agents.ts'

converses('mastra')
