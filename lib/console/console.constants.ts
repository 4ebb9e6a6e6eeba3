/** The checked options. */
export const CONSOLE_SETTINGS = Symbol('gatekeeper console: settings');

/** Of a handler: its description. */
export const ROUTE_METADATA = 'gatekeeper:route';

/** Of a request: who sends it. */
export const VISITOR = Symbol('gatekeeper: visitor');
