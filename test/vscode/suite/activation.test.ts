import assert from 'node:assert/strict';
import * as vscode from 'vscode';

describe('activation', () => {
  it('has opened the workspace', () => {
    assert.equal(vscode.workspace.workspaceFolders?.length, 1);
  });
});
