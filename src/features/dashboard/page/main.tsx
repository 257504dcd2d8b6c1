import { render } from 'preact'
import { App } from './app.tsx'
import { takeTokenFromUrl } from './session.ts'

takeTokenFromUrl() // before anything else can read the URL
const root = document.getElementById('app')
if (root) render(<App />, root)
