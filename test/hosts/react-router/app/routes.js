import { route } from '@react-router/dev/routes'

export default [route('ai/*', 'routes/ai.js'), route('own', 'routes/own.js')]
