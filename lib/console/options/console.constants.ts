/** Injection token of the checked options. */
export const CONSOLE_SETTINGS = Symbol('gatekeeper console: settings');

/** Property of a request with its sender. */
export const VISITOR = Symbol('gatekeeper: visitor');

/** Injection token of the console's controllers, all in one list. */
export const CONSOLE_CONTROLLERS = Symbol('gatekeeper console: controllers');
